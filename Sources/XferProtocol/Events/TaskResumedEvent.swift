import XferModel

/// `task.resumed`.
public struct TaskResumedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskResumed)
    public init() {}

    public static let summary = "A paused task is queued again."
    public static let wireFields: WireFields<Self> = []
}
