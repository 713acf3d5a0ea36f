import XferModel

/// `task.restored`.
public struct TaskRestoredEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskRestored)
    public var received: Int64 = 0

    public init() {}

    public init(received: Int64) {
        self.received = received
    }

    public static let summary = "A task that had a live try when the daemon stopped is going on."
    public static let wireFields: WireFields<Self> = [
        .required("received", \.received, "Bytes that were kept.")
    ]
}
