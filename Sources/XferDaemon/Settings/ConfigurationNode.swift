internal import Yams

/// A node of the configuration with its position. All settings are read from such nodes, regardless of their origin.
///
/// It is a tree separate from Yams's, since Yams resolves aliases by sharing, and the number of nodes has to be bounded
/// before anything walks them.
struct ConfigurationNode: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// `isPlain`: written without quotes, so that it may be a number.
        case scalar(String, isPlain: Bool)
        case sequence([ConfigurationNode])
        case mapping([Member])
    }

    struct Member: Hashable, Sendable {
        let key: ConfigurationNode
        let value: ConfigurationNode
    }

    let content: Content
    /// The position in its file; nil if it does not come from a file.
    let position: ConfigurationPosition?

    /// Creates a node of text that does not come from a file.
    init(text: String) {
        content = .scalar(text, isPlain: true)
        position = nil
    }

    /// The node's name in errors: `"six"`, `a list`, `a mapping`, `nothing`.
    var summary: String {
        switch content {
        case .scalar("", isPlain: true): "nothing"
        case .scalar(let text, isPlain: true): "\"\(text.prefix(80))\""
        case .scalar(let text, isPlain: false): "the string \"\(text.prefix(80))\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// True if the value is empty, `~` or `null` (YAML 1.2, Core Schema).
    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content { ["", "~", "null"].contains(text) } else { false }
    }

    /// A mapping's members; an empty value is an empty mapping; nil for everything else.
    var members: [Member]? {
        if case .mapping(let members) = content { members } else { isNull ? [] : nil }
    }

    /// The items of a list; any other value is a list of one.
    var items: [ConfigurationNode] {
        if case .sequence(let items) = content { items } else { [self] }
    }

    /// A scalar's text.
    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The texts of all scalars beneath the keys of this mapping for which a condition holds.
    func texts(of isIncluded: (String) -> Bool) -> [String] {
        guard case .mapping(let members) = content else { return [] }
        return members.flatMap { member -> [String] in
            guard case .scalar(let key, _) = member.key.content, isIncluded(key) else { return [] }
            return member.value.texts
        }
    }

    private var texts: [String] {
        switch content {
        case .scalar(let text, _): [text]
        case .sequence(let items): items.flatMap(\.texts)
        case .mapping(let members): members.flatMap(\.value.texts)
        }
    }
}

/// The reason why a text is not YAML that the configuration accepts.
struct ConfigurationSyntaxError: Error, Hashable, CustomStringConvertible {
    let message: String
    let position: ConfigurationPosition?

    var description: String { message }
}

extension ConfigurationNode {
    /// The highest number of nodes of a configuration with its aliases written out.
    static let maxNodes = 20_000
    /// The deepest nesting of mappings and lists; libYAML itself, which Yams walks recursively, stops at 1,000.
    static let maxDepth = 16
    /// The largest configuration in bytes.
    static let maxBytes = 1 << 20

    /// Parses one YAML document; nil for one without content.
    static func parse(yaml: String) throws(ConfigurationSyntaxError) -> ConfigurationNode? {
        guard yaml.utf8.count <= maxBytes else {
            throw ConfigurationSyntaxError(message: "longer than \(maxBytes) bytes", position: nil)
        }
        do {
            var budget = maxNodes
            return try Parser(yaml: yaml, encoding: .utf8).singleRoot().map {
                try ConfigurationNode($0, depth: 0, budget: &budget)
            }
        } catch let error as ConfigurationSyntaxError {
            throw error
        } catch let error as YamlError {
            throw ConfigurationSyntaxError(error)
        } catch {
            throw ConfigurationSyntaxError(message: "not YAML", position: nil)
        }
    }

    private init(_ node: Node, depth: Int, budget: inout Int) throws(ConfigurationSyntaxError) {
        position = node.mark.map { ConfigurationPosition(line: $0.line, column: $0.column) }
        budget -= 1
        guard budget >= 0, depth <= Self.maxDepth else {
            let message =
                budget < 0 ? "more than \(Self.maxNodes) values" : "nested deeper than \(Self.maxDepth)"
            throw ConfigurationSyntaxError(message: message, position: position)
        }
        switch node {
        case .scalar(let scalar):
            content = .scalar(scalar.string, isPlain: scalar.style == .plain)
        case .sequence(let sequence):
            var nodes: [ConfigurationNode] = []
            for item in sequence { nodes.append(try ConfigurationNode(item, depth: depth + 1, budget: &budget)) }
            content = .sequence(nodes)
        case .mapping(let mapping):
            var members: [Member] = []
            for (key, value) in mapping {
                let key = try ConfigurationNode(key, depth: depth + 1, budget: &budget)
                let value = try ConfigurationNode(value, depth: depth + 1, budget: &budget)
                members.append(Member(key: key, value: value))
            }
            content = .mapping(members)
        case .alias:
            throw ConfigurationSyntaxError(message: "an alias without its anchor", position: position)
        }
    }
}

extension ConfigurationSyntaxError {
    /// The message about a character with which no value begins (YAML 1.2 §6.1, §7.3.3).
    private static func message(ofUnexpectedCharacterAt mark: Mark, in yaml: String) -> String {
        let lines = yaml.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1),
            let found = lines[mark.line - 1].dropFirst(max(0, mark.column - 1)).first
        else { return "not YAML: a value that begins with a reserved character needs quotes" }
        if found == "\t" { return "not YAML: a tab, expected spaces as indentation" }
        return "not YAML: a value that begins with \(found) needs quotes"
    }

    fileprivate init(_ error: YamlError) {
        func at(_ mark: Mark) -> ConfigurationPosition { ConfigurationPosition(line: mark.line, column: mark.column) }
        switch error {
        case .scanner(_, let problem, let mark, let yaml) where problem.contains("cannot start any token"):
            self.init(message: Self.message(ofUnexpectedCharacterAt: mark, in: yaml), position: at(mark))
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(message: "not YAML: " + problem, position: at(mark))
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "\"\($0)\"" }.joined(separator: ", ")
            self.init(message: "written twice: " + names, position: at(context.mark))
        case .reader(let problem, _, _, _):
            self.init(message: "not YAML: " + problem, position: nil)
        default:
            self.init(message: "not YAML", position: nil)
        }
    }
}
