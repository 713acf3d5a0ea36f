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
