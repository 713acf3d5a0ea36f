import XferCore
import XferModel

/// A task as `fleet` lists show it.
struct FleetTask: Hashable, Sendable {
    let id: FleetTaskID
    let owner: String
    let clientKey: String?
    let priority: Priority
    let group: String?
    let host: String
    let place: FleetPlace
    let batch: FleetBatchID?
    let label: String?
    let isRepeatable: Bool
    let state: FleetTaskState
    let addedAt: Timestamp
    let notBefore: Timestamp?
    let endedAt: Timestamp?
    /// The number of claims since it was added or retried.
    let attempt: Int
    /// The node that has claimed it, or on which it ended.
    let node: String?
    /// True if that node is down: a pinned task waits for it.
    let isNodeDown: Bool
    let hasBegun: Bool
    /// Bytes; nil if no node has reported them.
    let received: Int64?
    let total: Int64?
    /// The reason why it waits or was returned.
    let reason: String?
    /// Nodes that have declined the queued task, and why, by id.
    var refusals: [FleetRefusal] = []
    /// True if a result is stored; `FleetDatabase.result` returns it.
    let hasResult: Bool
    /// JSON text of the last end.
    let detail: String?
    /// The specification as JSON text; nil in pages, which leave it out.
    let spec: String?
}

/// The reason why a node does not take a task.
struct FleetRefusal: Hashable, Sendable {
    let node: FleetNodeID
    /// The reason in English, with the node's name.
    let reason: String
}

/// Conditions that select the tasks of a page. Conditions that are nil match all.
struct FleetTaskFilter: Hashable, Sendable {
    var states: Set<FleetTaskState>?
    var owner: String?
    var group: String?
    /// A port matches hosts whose name has it: a scheme's own port does not stand there.
    var host: HostSelector?
    var place: FleetPlace?
    var batch: FleetBatchID?
    var label: String?
    /// The node that has the task, by its name.
    var node: String?
    var clientKey: String?
}

/// A page of tasks.
struct FleetTaskPage: Hashable, Sendable {
    let tasks: [FleetTask]
    /// The task after which the next page begins; nil if there are no more.
    let next: FleetTaskID?

    /// The highest number of tasks on a page.
    static let limit = 1000
}

/// The number of tasks in each state.
struct FleetCounts: Hashable, Sendable {
    var byState: [FleetTaskState: Int64] = [:]

    subscript(state: FleetTaskState) -> Int64 { byState[state] ?? 0 }
}
