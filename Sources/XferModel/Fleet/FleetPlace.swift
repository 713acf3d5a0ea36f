/// The nodes of a fleet that may claim a task: the one place that the task specifies.
public enum FleetPlace: Hashable, Sendable, CustomStringConvertible {
    case any
    /// The node with this name alone. If it is down, the task waits for it.
    case node(String)
    /// Every node with this label.
    case label(String)
    /// Every node that has mounted this shared storage, which contains the file.
    case storage(String)

    /// Accepted texts, to follow the word "expected".
    public static let expected = "any, node:NAME, label:NAME or storage:NAME"

    /// The highest number of characters in the name of a node, a label or a storage.
    public static let nameLength = 64
    /// Accepted names of nodes, labels and storages, to follow the word "expected".
    public static let expectedName = "a name of at most 64 letters, digits, dots, hyphens and underscores"

    /// `any`, `node:NAME`, `label:NAME` or `storage:NAME`; nil for every other text.
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
        case "storage": self = .storage(String(parts[1]))
        default: return nil
        }
    }

    /// True if a node, a label or a storage may have this name: letters of ASCII, digits, `-`, `_` and `.`, at most 64.
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
        case .storage(let name): "storage:\(name)"
        }
    }

    /// True if only one node can take the task.
    public var isPinned: Bool { if case .node = self { true } else { false } }

    /// The shared storage that contains the task's file; nil for the node's own disk.
    public var storage: String? { if case .storage(let name) = self { name } else { nil } }

    /// The places that a node serves, in the form in which tasks specify them.
    public static func served(
        byNode name: String, labels: Set<String>, storages: Set<String> = []
    ) -> [FleetPlace] {
        [.node(name)] + labels.sorted().map { .label($0) } + storages.sorted().map { .storage($0) } + [.any]
    }
}
