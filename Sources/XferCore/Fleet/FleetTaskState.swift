/// The state of a fleet's task, as lists show it.
public enum FleetTaskState: String, Hashable, Sendable, CaseIterable {
    /// Waits in its lane for a node.
    case queued
    /// The task enters its lane when its `not_before` has passed.
    case delayed
    /// A node has claimed the task. The node's own list contains the details.
    case leased
    case paused
    case completed
    case failed
    case cancelled
    /// Its request must not be repeated, and the node that may have made it no longer exists.
    case outcomeUnknown = "outcome_unknown"

    /// True if the run has ended and one event `ended` was emitted for it.
    public var isEnd: Bool {
        switch self {
        case .completed, .failed, .cancelled, .outcomeUnknown: true
        case .queued, .delayed, .leased, .paused: false
        }
    }
}

/// The end of a task's run.
public enum FleetEnding: String, Hashable, Sendable, CaseIterable {
    case completed
    case failed
    case cancelled
    case outcomeUnknown = "outcome_unknown"

    public var state: FleetTaskState {
        switch self {
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        case .outcomeUnknown: .outcomeUnknown
        }
    }
}
