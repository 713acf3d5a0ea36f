import XferModel

/// `events.overflow`.
public struct EventsOverflowEvent: WireEvent, Hashable {
    public static let eventName = EventName.overflow
    public var lastSeq: Int64 = 0

    public init() {}

    public init(lastSeq: Int64) {
        self.lastSeq = lastSeq
    }

    public static let summary =
        "The client did not read and events were held back too long; this subscription has ended. Go on with events.since."
    public static let wireFields: WireFields<Self> = [
        .required("last_seq", \.lastSeq, "The last durable event that was delivered on it.")
    ]
}
