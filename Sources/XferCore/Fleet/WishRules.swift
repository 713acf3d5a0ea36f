public import XferModel

/// Decides which wishes apply to a task of the fleet, by its state and its owner.
public enum WishRules {
    /// The caller that requests the change.
    public enum Caller: Hashable, Sendable {
        /// Sees and changes the tasks of that owner alone.
        case owner(String)
        case operators
    }

    /// The result of the request.
    public enum Verdict: Hashable, Sendable {
        /// The database applies it at once: no node has the task.
        case apply
        /// The node that has the task applies it, or the next node that claims the task.
        case deliver
        /// The task already has the requested state.
        case nothingToDo
        /// The caller does not see this task: the answer is as if the task did not exist.
        case noSuchTask
        /// The task's state does not allow it.
        case wrongState
    }

    /// Decides what to do with a wish.
    ///
    /// - Parameters:
    ///   - place: the task's present one.
    ///   - isCancelling: true if an earlier wish to cancel waits for the node: later wishes have no effect.
    ///   - mayBePublished: true if a previous node had a permit to publish the waiting task, and no node has checked
    ///     yet if it did. A cancellation waits for this check, and a paused task is queued for it; a second
    ///     cancellation does not wait.
    public static func judge(
        _ wish: FleetWish, by caller: Caller, owner: String, place: FleetPlace, state: FleetTaskState,
        isCancelling: Bool, mayBePublished: Bool = false
    ) -> Verdict {
        if case .owner(let name) = caller, name != owner { return .noSuchTask }
        // Its directory has another meaning on shared storage.
        if case .move(let other) = wish, (other.storage == nil) != (place.storage == nil) { return .wrongState }
        switch state {
        case .queued: return wish == .cancel && mayBePublished ? .deliver : judgeWaiting(wish)
        // It has no place in a lane yet.
        case .delayed: if case .reorder = wish { return .wrongState } else { return judgeWaiting(wish) }
        case .paused: return wish == .cancel && mayBePublished ? .deliver : judgePaused(wish)
        case .leased: return judgeLeased(wish, isCancelling: isCancelling)
        case .completed, .failed, .cancelled, .outcomeUnknown: return judgeEnded(wish, state: state)
        }
    }

    private static func judgeWaiting(_ wish: FleetWish) -> Verdict {
        switch wish {
        case .pause, .cancel, .reorder, .move, .priority, .limits: .apply
        case .resume: .nothingToDo
        case .retry, .remove: .wrongState
        }
    }

    private static func judgePaused(_ wish: FleetWish) -> Verdict {
        switch wish {
        case .resume, .cancel, .move, .priority, .limits: .apply
        case .pause: .nothingToDo
        case .retry, .remove, .reorder: .wrongState
        }
    }

    private static func judgeLeased(_ wish: FleetWish, isCancelling: Bool) -> Verdict {
        switch wish {
        case .cancel: isCancelling ? .nothingToDo : .deliver
        case .pause, .resume, .move, .priority, .limits: isCancelling ? .wrongState : .deliver
        case .reorder, .retry, .remove: .wrongState
        }
    }

    private static func judgeEnded(_ wish: FleetWish, state: FleetTaskState) -> Verdict {
        switch wish {
        case .retry: state == .completed ? .wrongState : .apply
        case .remove: .apply
        case .cancel: state == .cancelled ? .nothingToDo : .wrongState
        case .pause, .resume, .reorder, .move, .priority, .limits: .wrongState
        }
    }
}

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
