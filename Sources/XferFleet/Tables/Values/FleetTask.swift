public import XferCore
public import XferModel

/// A task as `fleet` lists show it.
public struct FleetTask: Hashable, Sendable {
    public let id: FleetTaskID
    public let owner: String
    public let clientKey: String?
    public let priority: Priority
    public let group: String?
    public let host: String
    public let place: FleetPlace
    public let batch: FleetBatchID?
    public let label: String?
    public let isRepeatable: Bool
    public let state: FleetTaskState
    public let addedAt: Timestamp
    public let notBefore: Timestamp?
    public let endedAt: Timestamp?
    /// The number of claims since it was added or retried.
    public let attempt: Int
    /// The node that has claimed it, or on which it ended.
    public let node: String?
    /// True if that node is down: a pinned task waits for it.
    public let isNodeDown: Bool
    public let hasBegun: Bool
    /// Bytes; nil if no node has reported them.
    public let received: Int64?
    public let total: Int64?
    /// The reason why it waits or was returned.
    public let reason: String?
    /// Nodes that have declined the queued task, and why, by id.
    public internal(set) var refusals: [FleetRefusal] = []
    /// True if a result is stored; `FleetDatabase.result` returns it.
    public let hasResult: Bool
    /// JSON text of the last end.
    public let detail: String?
    /// The specification as JSON text; nil in pages, which leave it out.
    public let spec: String?
}

/// The reason why a node does not take a task.
public struct FleetRefusal: Hashable, Sendable {
    public let node: FleetNodeID
    /// The reason in English, with the node's name.
    public let reason: String
}

/// Conditions that select the tasks of a page. Conditions that are nil match all.
public struct FleetTaskFilter: Hashable, Sendable {
    public var states: Set<FleetTaskState>?
    public var owner: String?
    public var group: String?
    /// A port matches hosts whose name has it: a scheme's own port does not stand there.
    public var host: HostSelector?
    public var place: FleetPlace?
    public var batch: FleetBatchID?
    public var label: String?
    /// The node that has the task, by its name.
    public var node: String?
    public var clientKey: String?

    public init() {}
}

/// A page of tasks.
public struct FleetTaskPage: Hashable, Sendable {
    public let tasks: [FleetTask]
    /// The task after which the next page begins; nil if there are no more.
    public let next: FleetTaskID?

    /// The highest number of tasks on a page.
    public static let limit = 1000
}

/// The number of tasks in each state.
public struct FleetCounts: Hashable, Sendable {
    public var byState: [FleetTaskState: Int64]

    public init(byState: [FleetTaskState: Int64] = [:]) { self.byState = byState }

    public subscript(state: FleetTaskState) -> Int64 { byState[state] ?? 0 }
}
