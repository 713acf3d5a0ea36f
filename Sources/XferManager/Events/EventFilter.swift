public import XferModel

/// Which events a subscriber wants; nil fields let everything through.
public struct EventFilter: Hashable, Sendable {
    public var types: Set<EventType>?
    /// Whether `task.progress` is wanted besides durable events.
    public var includesProgress: Bool
    public var taskIDs: Set<TaskID>?
    /// Only events of this owner's tasks and, for operators (nil), everybody's and the service's own.
    public var owner: Owner?

    public init(
        types: Set<EventType>? = nil, includesProgress: Bool = false, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil
    ) {
        self.types = types
        self.includesProgress = includesProgress
        self.taskIDs = taskIDs
        self.owner = owner
    }

    public func accepts(_ event: Event) -> Bool {
        if let owner, event.owner != owner { return false }
        if let taskIDs {
            guard let taskID = event.taskID, taskIDs.contains(taskID) else { return false }
        }
        return types?.contains(event.type) ?? true
    }

    public func accepts(_ progress: ProgressSnapshot) -> Bool {
        guard includesProgress else { return false }
        if let owner, progress.owner != owner { return false }
        return taskIDs?.contains(progress.taskID) ?? true
    }
}
