import XferModel

/// `hooks`: a mapping of names to `{argv, timeout, guests}`.
extension SettingForm where Value == [HookDefinition] {
    private static let names = ["argv", "timeout", "guests"]
    private static let expectation = "a mapping of names to hooks, each a mapping with argv, timeout, guests"

    static let hooks = SettingForm(expected: expectation, isScalar: false) { node, context throws(SettingMismatch) in
        if node.isNull { return [] }
        guard let members = node.members else { throw SettingMismatch(expected: expectation, found: node) }
        var hooks: Value = []
        for member in members {
            guard let name = member.key.text, (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isNamePart)
            else {
                throw SettingMismatch(
                    expected: "a hook's name: up to 64 letters, digits, dots, dashes and underscores", found: member.key
                )
            }
            hooks.append(try hook(named: name, member, context))
        }
        return hooks
    } write: { hooks in
        "{" + hooks.map(text).joined(separator: ", ") + "}"
    }

    private static let timeout = SettingForm<Duration>.duration(.seconds(1) ... .seconds(86_400))

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func hook(
        named name: String, _ entry: ConfigurationNode.Member, _ context: SettingContext
    ) throws(SettingMismatch) -> HookDefinition {
        guard let members = entry.value.members, !entry.value.isNull else {
            throw SettingMismatch(expected: "a mapping with argv, timeout, guests for \(name)", found: entry.value)
        }
        var hook = HookDefinition(name: name, arguments: [])
        for member in members {
            do throws(SettingMismatch) {
                switch member.key.text {
                case "argv": hook.arguments = try arguments(member.value, context)
                case "timeout": hook.timeout = try timeout.read(member.value, context).components.seconds
                case "guests": hook.isForEverybody = try SettingForm<Bool>.flag.read(member.value, context)
                default: throw SettingMismatch(Suggestion.unknown(member.key.text ?? "", among: names), at: member.key)
                }
            } catch {
                throw SettingMismatch(within: "\(name).\(member.key.text ?? "?")", error)
            }
        }
        guard !hook.arguments.isEmpty else {
            throw SettingMismatch("\(name): argv is missing: expected the program and its arguments", at: entry.key)
        }
        return hook
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

    private static func text(of hook: HookDefinition) -> String {
        let arguments = hook.arguments.map(YAMLText.quoted).joined(separator: ", ")
        return "\(YAMLText.quoted(hook.name)): {argv: [\(arguments)], timeout: \(hook.timeout), "
            + "guests: \(hook.isForEverybody)}"
    }
}
