public import XferModel

/// The events that a subscriber wants. A nil field accepts everything.
public struct EventFilter: Hashable, Sendable {
    public var types: Set<EventType>?
    /// Whether `task.progress` is wanted, too; it is not durable.
    public var includesProgress: Bool
    public var taskIDs: Set<TaskID>?
    /// Only events of this owner's tasks; nil, for operators, accepts all owners' events and the service's own.
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
