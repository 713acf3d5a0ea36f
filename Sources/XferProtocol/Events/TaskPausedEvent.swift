import XferModel

/// `task.paused`.
public struct TaskPausedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskPaused)
    public var received: Int64 = 0

    public init() {}

    public init(received: Int64) {
        self.received = received
    }

    public static let summary = "A task was paused."
    public static let wireFields: WireFields<Self> = [
        .required(
            "received", \.received,
            "Bytes that were committed by then; what came since is kept as well, and task.get tells.")
    ]
}
