import XferModel

/// `task.started`.
public struct TaskStartedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskStarted)
    public var attempt: Int = 0
    public var offset: Int64 = 0

    public init() {}

    public init(attempt: Int, offset: Int64) {
        self.attempt = attempt
        self.offset = offset
    }

    public static let summary = "A try began."
    public static let wireFields: WireFields<Self> = [
        .required("attempt", \.attempt, "Counts from 1 over the task's life."),
        .required("offset", \.offset, "Bytes kept from earlier tries."),
    ]
}
