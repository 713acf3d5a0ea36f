/// What one type of event says beyond the envelope. One file each in this folder, one line each in `EventRegistry`.
public protocol WireEvent: WireRecord {
    static var eventName: EventName { get }
}

/// Every type of event, in the order of the document.
public enum EventRegistry {
    public static let all: [any WireEvent.Type] = [
        TaskAddedEvent.self, TaskRestoredEvent.self, TaskStartedEvent.self, TaskResponseEvent.self,
        TaskRedirectedEvent.self, TaskWaitingEvent.self, TaskPausedEvent.self, TaskResumedEvent.self,
        TaskSourceChangedEvent.self, TaskCompletedEvent.self, TaskFailedEvent.self, TaskCancelledEvent.self,
        TaskSupersededEvent.self, TaskRemovedEvent.self, BatchCompletedEvent.self, QueueIdleEvent.self,
        ActivityChangedEvent.self,
        PolicyViolationEvent.self,
        PolicyExpiringEvent.self, SessionInvalidatedEvent.self, DaemonStartedEvent.self, DaemonStoppingEvent.self,
        TaskProgressEvent.self, EventsOverflowEvent.self,
    ]
}
