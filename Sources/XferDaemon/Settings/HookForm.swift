import StrictJSON
import XferModel
import XferProtocol

/// `hooks`: a mapping of names to hooks as `hook.list` shows them.
extension SettingForm where Value == [HookDefinition] {
    private static let expectation = "a mapping of names to hooks, each a mapping with argv, timeout, guests"
    private static let timeout = SettingForm<Duration>.duration(.seconds(1) ... .seconds(86_400))
    private static let unwritten = HookRecord(HookDefinition(name: "", arguments: []))

    private static let record = RecordForm<HookRecord>(
        keyedBy: "name", defaults: ["timeout": unwritten.timeout.wire, "guests": unwritten.guests.wire],
        readers: [
            "argv": { node, context throws(SettingMismatch) in try arguments(node, context).wire },
            "timeout": { node, context throws(SettingMismatch) in
                try timeout.read(node, context).components.seconds.wire
            },
        ])

    static let hooks = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
        node, context throws(SettingMismatch) in
        try record.readAll(node, context, expected: expectation) { member, hook throws(SettingMismatch) in
            try DefinitionName.check(member.key, of: "a hook")
            return HookDefinition(
                name: hook.name, arguments: hook.argv, timeout: hook.timeout, isForGuests: hook.guests)
        }
    } write: { hooks in
        record.writeAll(hooks.map { ($0.name, HookRecord($0)) })
    }

    /// The program's absolute path, then its arguments. There is no shell: every item is one argument.
    private static func arguments(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> [String] {
        guard case .sequence(let items) = node.content, let first = items.first else {
            throw SettingMismatch(expected: "a list: the program's absolute path and its arguments", found: node)
        }
        var arguments = [try SettingForm<String>.path.read(first, context)]
        for item in items.dropFirst() {
            guard let text = item.text, !text.utf8.contains(0) else {
                throw SettingMismatch(expected: "a text", found: item)
            }
            arguments.append(text)
        }
        return arguments
    }
}

/// The names of hooks and webhooks.
enum DefinitionName {
    /// Checks that a node is the name of an object.
    ///
    /// - Parameter kind: the kind of object, with its article.
    static func check(_ node: ConfigurationNode, of kind: String) throws(SettingMismatch) {
        guard let name = node.text, (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isNamePart) else {
            throw SettingMismatch(
                expected: "\(kind)'s name: up to 64 letters, digits, dots, dashes and underscores", found: node)
        }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
