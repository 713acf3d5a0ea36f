import XferModel

/// `access.users` and `access.groups`: a mapping from names to grants.
extension SettingForm where Value == [String: Settings.Grant] {
    static let grants = SettingForm(
        expected: "a mapping from names to {roots, max_tasks, max_priority}", isScalar: false
    ) { node, context throws(SettingMismatch) in
        guard let members = node.members else {
            throw SettingMismatch(expected: "a mapping from names to {roots, max_tasks, max_priority}", found: node)
        }
        var grants: Value = [:]
        for member in members {
            guard let name = member.key.text, !name.isEmpty else {
                throw SettingMismatch(expected: "a user's or group's name", found: member.key)
            }
            grants[name] = try grant(of: name, from: member.value, at: member.key, context)
        }
        return grants
    } write: { grants in
        "{"
            + grants.sorted { $0.key < $1.key }.map { "\(YAMLText.quoted($0)): \(text(of: $1))" }
            .joined(separator: ", ") + "}"
    }

    private static let maxTasks = SettingForm<Int>.integer(1...10_000_000)
    private static let maxPriority = SettingForm<Priority>.priority

    private static func grant(
        of name: String, from node: ConfigurationNode, at key: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> Settings.Grant {
        guard let members = node.members else {
            throw SettingMismatch(expected: "a mapping with roots, max_tasks, max_priority for \(name)", found: node)
        }
        var grant = Settings.Grant(roots: [])
        for member in members {
            do throws(SettingMismatch) {
                switch member.key.text {
                case "roots": grant.roots = try roots(member.value, context)
                case "max_tasks": grant.maxTasks = try maxTasks.read(member.value, context)
                case "max_priority": grant.maxPriority = try maxPriority.read(member.value, context)
                default:
                    let names = ["roots", "max_tasks", "max_priority"]
                    throw SettingMismatch(Suggestion.unknown(member.key.text ?? "", among: names), at: member.key)
                }
            } catch {
                throw SettingMismatch(within: "\(name).\(member.key.text ?? "?")", error)
            }
        }
        guard !grant.roots.isEmpty else {
            throw SettingMismatch("\(name): roots is missing: expected the directories it may write beneath", at: key)
        }
        return grant
    }

    /// `~` is not allowed: it would mean the daemon's home, which is hardly intended.
    private static func roots(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> [String] {
        let items: [ConfigurationNode] = if case .sequence(let items) = node.content { items } else { [node] }
        for item in items where item.text?.hasPrefix("~") == true {
            throw SettingMismatch("expected an absolute path (~ would be the daemon's home)", at: item)
        }
        return try SettingForm<[String]>.paths.read(node, context)
    }

    private static func text(of grant: Settings.Grant) -> String {
        "{roots: \(SettingForm<[String]>.paths.write(grant.roots)), max_tasks: \(grant.maxTasks), "
            + "max_priority: \(maxPriority.write(grant.maxPriority))}"
    }
}

extension SettingForm where Value == Priority {
    static let priority = word([("low", .low), ("normal", .normal), ("high", .high)])
}

extension SettingMismatch {
    /// The mismatch of a part, with the part's name before it.
    init(within name: String, _ inner: SettingMismatch) {
        message = name + ": " + inner.message
        position = inner.position
    }
}
