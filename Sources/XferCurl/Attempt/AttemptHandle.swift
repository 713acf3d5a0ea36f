import NIOConcurrencyHelpers

/// A started attempt: its events and its counters.
public struct AttemptHandle: Sendable {
    public let id: AttemptID
    /// Ends after `finished`. For a single consumer.
    public let events: AsyncStream<AttemptEvent>
    public let progress: AttemptProgress
}

/// The latest counters of an attempt; any thread may read them without a call to the loop.
public final class AttemptProgress: Sendable {
    public struct Snapshot: Hashable, Sendable {
        /// Whether a final response's head has arrived.
        public var isTransferring: Bool
        /// First offset of the representation that is not written.
        public var offset: Int64
        /// Complete length, nil while unknown.
        public var total: Int64?
        /// Body bytes received over the network in this attempt, discarded ones included.
        public var received: Int64
        /// Bytes of content handed to the system for sending, in the present request: a redirect that wants the content
        /// again begins at 0.
        public var sent: Int64
        /// Bytes of content handed to the system for sending in all requests of this attempt.
        public var sentInAll: Int64
        /// Length of the present request's content; nil while that is unknown, as multipart's is before the first byte.
        public var sendTotal: Int64?
    }

    private let box: NIOLockedValueBox<Snapshot>

    init(offset: Int64, total: Int64?) {
        box = NIOLockedValueBox(
            Snapshot(
                isTransferring: false, offset: offset, total: total, received: 0, sent: 0, sentInAll: 0, sendTotal: nil)
        )
    }

    public var snapshot: Snapshot { box.withLockedValue { $0 } }

    func update(_ change: (inout Snapshot) -> Void) { box.withLockedValue(change) }
}

extension AttemptProgress.Snapshot {
    /// Records how much of the present request's content was sent. If the count fell, it is another request's.
    mutating func setSent(_ count: Int64, of total: Int64?) {
        sentInAll += count >= sent ? count - sent : count
        (sent, sendTotal) = (count, total)
    }
}
