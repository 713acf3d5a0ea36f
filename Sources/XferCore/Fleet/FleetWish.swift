public import XferModel

/// A change that an owner or an operator requests for a task of the fleet.
public enum FleetWish: Hashable, Sendable {
    case pause
    case resume
    case cancel
    /// Runs the task again after an end that was not `completed`.
    case retry
    /// Moves the task to the head or to the tail of its lane.
    case reorder(FleetLaneEnd)
    /// Moves the task to other nodes.
    case move(FleetPlace)
    case priority(Priority)
    /// Fields of `task.update` for the node that has the task; as JSON text, which only the agent reads.
    case limits(String)
    /// Removes an ended task.
    case remove

    /// The name of the request in events, refusals and rows.
    public var name: String {
        switch self {
        case .pause: "pause"
        case .resume: "resume"
        case .cancel: "cancel"
        case .retry: "retry"
        case .reorder: "reorder"
        case .move: "move"
        case .priority: "priority"
        case .limits: "limits"
        case .remove: "remove"
        }
    }
}

/// An end of a lane.
public enum FleetLaneEnd: String, Hashable, Sendable, CaseIterable {
    case top
    case bottom
}
