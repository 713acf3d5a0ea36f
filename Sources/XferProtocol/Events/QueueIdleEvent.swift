import XferModel

/// `queue.idle`.
public struct QueueIdleEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.queueIdle)
    public var completed: Int64 = 0
    public var failed: Int64 = 0

    public init() {}

    public init(completed: Int64, failed: Int64) {
        self.completed = completed
        self.failed = failed
    }

    public static let summary = "Nothing is queued, waiting for a time, or running any more."
    public static let wireFields: WireFields<Self> = [
        .required("completed", \.completed, "Tasks that are completed."),
        .required("failed", \.failed, "Tasks that have failed."),
    ]
}
