import XferModel

/// `task.source_changed`.
public struct TaskSourceChangedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskSourceChanged)
    public var reason: String = ""
    public var dropped: Int64 = 0

    public init() {}

    public init(reason: String, dropped: Int64) {
        self.reason = reason
        self.dropped = dropped
    }

    public static let summary =
        "The kept bytes were of another version of the source and are dropped; the task begins again."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "How that was seen."),
        .required("dropped", \.dropped, "Bytes that were dropped."),
    ]
}
