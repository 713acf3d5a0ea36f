public import XferModel
public import XferProtocol

/// The states of aria2's downloads.
public enum Aria2State: String, Sendable, CaseIterable {
    case active
    case waiting
    case paused
    case error
    case complete
    case removed

    /// Creates aria2's state from a task's.
    ///
    /// A staged task waits for a command like a paused one. A state of a newer service counts as waiting.
    public init(_ state: TaskState?) {
        self =
            switch state {
            case .running: .active
            case .queued, .waiting, nil: .waiting
            case .paused, .staged: .paused
            case .completed: .complete
            case .failed: .error
            case .cancelled: .removed
            }
    }

    /// True if the download is among those of `tellStopped`.
    public var isStopped: Bool { [.error, .complete, .removed].contains(self) }

    /// The states of tasks that `tellWaiting` lists behind the queued ones.
    public static let suspended: [TaskState] = [.waiting, .paused, .staged]
    /// The states of tasks that `tellStopped` lists.
    public static let stopped: [TaskState] = [.completed, .failed, .cancelled]
}

/// The actions of clients on one download.
public enum Aria2Verb: String, Sendable, CaseIterable {
    case pause
    case unpause
    case remove
    case removeResult

    /// The effect of a verb.
    public enum Effect: Hashable, Sendable {
        /// `task.pause`, `task.resume` or `task.cancel` is called. Its answer decides, as the state may have changed.
        case call
        /// The download is no longer shown. Its task, bytes and deliveries stay.
        case hide
        case refused
    }

    /// The table of states and verbs.
    public func effect(on state: TaskState) -> Effect {
        switch (self, state) {
        case (.pause, .queued), (.pause, .waiting), (.pause, .running): .call
        case (.pause, .paused), (.pause, .staged), (.pause, .completed), (.pause, .failed), (.pause, .cancelled):
            .refused
        // A waiting task tries at once, if that can help.
        case (.unpause, .paused), (.unpause, .waiting): .call
        case (.unpause, .queued), (.unpause, .running), (.unpause, .staged), (.unpause, .completed),
            (.unpause, .failed), (.unpause, .cancelled):
            .refused
        case (.remove, .queued), (.remove, .waiting), (.remove, .running), (.remove, .paused), (.remove, .staged): .call
        case (.remove, .completed), (.remove, .failed), (.remove, .cancelled): .refused
        case (.removeResult, .completed), (.removeResult, .failed), (.removeResult, .cancelled): .hide
        case (.removeResult, .queued), (.removeResult, .waiting), (.removeResult, .running), (.removeResult, .paused),
            (.removeResult, .staged):
            .refused
        }
    }

    /// Returns aria2's error for a verb that the state does not allow.
    public func refusal(_ gid: Aria2GID) -> Aria2Fault {
        switch self {
        case .pause: Aria2Fault("GID#\(gid) cannot be paused now")
        case .unpause: Aria2Fault("GID#\(gid) cannot be unpaused now")
        case .remove: Aria2Fault("Active Download not found for GID#\(gid)")
        case .removeResult: Aria2Fault("Could not remove download result of GID#\(gid)")
        }
    }
}

extension Aria2Notification {
    /// The types of events that become notifications.
    public static let events: [EventName] = [
        .durable(.taskStarted), .durable(.taskPaused), .durable(.taskCancelled), .durable(.taskSuperseded),
        .durable(.taskCompleted), .durable(.taskFailed),
    ]

    /// Creates the notification of an event; nil if aria2 has none for it.
    public init?(_ event: EventMessage) {
        switch event.type.value {
        // Each try is announced; aria2 announces a download that becomes active, and retries silently.
        case .durable(.taskStarted)?: self = .start
        case .durable(.taskPaused)?: self = .pause
        case .durable(.taskCancelled)?, .durable(.taskSuperseded)?: self = .stop
        case .durable(.taskCompleted)?: self = .complete
        case .durable(.taskFailed)?: self = .error
        default: return nil
        }
    }
}
