import StrictJSON
import XferModel
public import XferProtocol

extension Settings.Grant: WireInput {
    public init() { self.init(roots: []) }

    public static let summary = "Rights of a user who is not an operator."
    public static let wireFields: WireFields<Self> = [
        .required("roots", \.roots, "Absolute paths of the directories beneath which its tasks may write and read."),
        .defaulted("max_tasks", \.maxTasks, "Unfinished tasks it may have.", .range(1...10_000_000)),
        .defaulted("max_priority", \.maxPriority, "The highest priority its tasks may have."),
    ]
}

/// `access.users` and `access.groups`: a mapping from names to grants.
extension SettingForm where Value == [String: Settings.Grant] {
    private static let expectation = "a mapping from names to {roots, max_tasks, max_priority}"
    private static let record = RecordForm<Settings.Grant>(readers: [
        "roots": { node, context throws(SettingMismatch) in try roots(node, context).wire }
    ])

    static let grants = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
        node, context throws(SettingMismatch) in
        let grants = try record.readAll(node, context, expected: expectation) { member, grant throws(SettingMismatch) in
            guard let name = member.key.text, !name.isEmpty else {
                throw SettingMismatch(expected: "a user's or group's name", found: member.key)
            }
            return (name, grant)
        }
        return Dictionary(grants) { $1 }
    } write: { grants in
        record.writeAll(grants.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// Reads the roots. `~` is not allowed: it would mean the daemon's home, which is hardly intended.
    private static func roots(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> [String] {
        for item in node.items where item.text?.hasPrefix("~") == true {
            throw SettingMismatch("expected an absolute path (~ would be the daemon's home)", at: item)
        }
        return try SettingForm<[String]>.paths.read(node, context)
    }
}
