public import XferModel

/// Which tasks a list or a verb is about: fields are ANDed, values within a field ORed; nil does not restrict, an empty
/// array matches nothing.
public struct TaskFilter: Hashable, Sendable {
    public var states: [TaskState]?
    public var kinds: [TaskKind]?
    public var groups: [String]?
    public var labels: [String]?
    public var owners: [Owner]?
    /// As the scheduler counts them, see `HTTPURL.hostKey`.
    public var hosts: [String]?
    public var ids: [TaskID]?

    public init(
        states: [TaskState]? = nil, kinds: [TaskKind]? = nil, groups: [String]? = nil, labels: [String]? = nil,
        owners: [Owner]? = nil, hosts: [String]? = nil, ids: [TaskID]? = nil
    ) {
        self.states = states
        self.kinds = kinds
        self.groups = groups
        self.labels = labels
        self.owners = owners
        self.hosts = hosts
        self.ids = ids
    }

    /// The columns it restricts, each with the values it allows, without repetitions and in a fixed order.
    var restrictions: [Restriction] {
        var found: [Restriction] = []
        func restrict<T: Hashable>(_ dimension: Restriction.Dimension, _ allowed: [T]?, _ value: (T) -> Value) {
            guard let allowed else { return }
            found.append(Restriction(dimension: dimension, allowed: Set(allowed.map(value))))
        }
        restrict(.id, ids, { Value($0) })
        restrict(.label, labels, { .text($0) })
        restrict(.group, groups, { .text($0) })
        restrict(.host, hosts, { .text($0) })
        restrict(.state, states, { Value($0) })
        restrict(.owner, owners, { Value($0) })
        restrict(.kind, kinds, { Value($0) })
        return found
    }
}

/// One column and the values it may have.
struct Restriction {
    enum Dimension: String {
        case id, label, group, host, state, owner, kind

        var column: String { self == .group ? "group_name" : rawValue }
        /// The index in which the tasks with one value lie in the order of their ids.
        var index: String? { self == .id || self == .kind ? nil : "task_\(rawValue)" }
    }

    let dimension: Dimension
    let allowed: Set<Value>

    /// The allowed values in a fixed order, as JSON.
    var list: String {
        let integers = allowed.compactMap { if case .integer(let value) = $0 { value } else { nil } }.sorted()
        let texts = allowed.compactMap { if case .text(let value) = $0 { value } else { nil } }.sorted()
        return texts.isEmpty ? JSONText.array(integers) : JSONText.array(texts)
    }
}
