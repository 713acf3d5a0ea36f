/// Which nodes of a fleet may take a task: the one place a task names.
public enum FleetPlace: Hashable, Sendable, CustomStringConvertible {
    case any
    /// The node with this name alone. If it is down, the task waits for it.
    case node(String)
    /// Every node with this label.
    case label(String)

    /// Accepted texts, to follow the word "expected".
    public static let expected = "any, node:NAME or label:NAME"

    /// The most characters of a node's name or a label.
    public static let nameLength = 64
    /// Accepted names of nodes and labels, to follow the word "expected".
    public static let expectedName = "a name of at most 64 letters, digits, dots, hyphens and underscores"

    /// `any`, `node:NAME` or `label:NAME`; nil for every other text.
    public init?(_ text: String) {
        if text == "any" {
            self = .any
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isName(parts[1]) else { return nil }
        switch parts[0] {
        case "node": self = .node(String(parts[1]))
        case "label": self = .label(String(parts[1]))
        default: return nil
        }
    }

    /// Whether a node or a label may have this name: letters of ASCII, digits, `-`, `_` and `.`, at most 64.
    public static func isName(_ text: some StringProtocol) -> Bool {
        (1...nameLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    public var description: String {
        switch self {
        case .any: "any"
        case .node(let name): "node:\(name)"
        case .label(let name): "label:\(name)"
        }
    }

    /// Whether only one node can take the task.
    public var isPinned: Bool { if case .node = self { true } else { false } }

    /// The places that a node serves, as tasks name them.
    public static func served(byNode name: String, labels: Set<String>) -> [FleetPlace] {
        [.node(name)] + labels.sorted().map { .label($0) } + [.any]
    }
}
