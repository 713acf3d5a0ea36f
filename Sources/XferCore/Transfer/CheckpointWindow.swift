public import XferModel

/// Decides when received bytes have to be made durable, and when reading has to wait for that.
///
/// One checkpoint is under way at a time. Bytes are not yet durable from the moment they are written until a committed
/// offset has passed them.
///
/// Checkpoints that are due because of age occur at multiples of an eighth of that age, so that many slow transfers are
/// synced and committed together.
public struct CheckpointWindow: Hashable, Sendable {
    public struct Limits: Hashable, Sendable {
        /// The number of bytes not yet durable at which a checkpoint is due.
        public var dueBytes: Int64
        /// The age of the oldest byte not yet durable at which a checkpoint is due, plus up to an eighth.
        public var dueAfter: Duration
        /// The number of bytes not yet durable before which reading pauses.
        public var pauseBytes: Int64
        /// The age of the oldest byte not yet durable at which reading pauses.
        public var pauseAfter: Duration

        /// The highest number of bytes that may be read at once. Larger reads mean fewer calls for a fast transfer, as
        /// long as they are small compared with the bytes that may wait for a checkpoint.
        ///
        /// - Parameter isShared: true if other requests have bytes that are not yet durable under the same limits.
        public func readSize(isShared: Bool) -> Int {
            Int(clamping: min(max(pauseBytes / 64, isShared ? 16 << 10 : 64 << 10), 240 << 10))
        }

        public init(
            dueBytes: Int64 = 8 << 20, dueAfter: Duration = .seconds(1), pauseBytes: Int64 = 16 << 20,
            pauseAfter: Duration = .seconds(2)
        ) {
            self.dueBytes = dueBytes
            self.dueAfter = dueAfter
            self.pauseBytes = pauseBytes
            self.pauseAfter = pauseAfter
        }
    }

    /// The other requests for parts of the same body. The limits are for all of them together.
    public struct Neighbours: Hashable, Sendable {
        /// The number of requests.
        public var count: Int
        /// Their bytes that are not yet durable.
        public var unsynced: Int64
        /// True if a checkpoint that covers all of them is in progress.
        public var areSaved: Bool

        public init(count: Int = 0, unsynced: Int64 = 0, areSaved: Bool = false) {
            self.count = count
            self.unsynced = unsynced
            self.areSaved = areSaved
        }
    }

    /// The action to take now.
    public struct Action: Hashable, Sendable {
        /// Make the bytes below this offset durable and commit it.
        public var dueOffset: Int64?
        /// True if reading has to wait.
        public var isPaused: Bool

        public init(dueOffset: Int64?, isPaused: Bool) {
            self.dueOffset = dueOffset
            self.isPaused = isPaused
        }
    }

    public let limits: Limits
    /// First offset that is not committed.
    public private(set) var committed: Int64
    /// First offset that is not written.
    public private(set) var written: Int64
    /// Offset of the checkpoint under way.
    private var pending: Int64?
    /// The time at which the oldest byte that is not yet durable was written; nil if there is none.
    private var oldest: MonotonicInstant? { didSet { dueAt = oldest.map(checkpointTime) } }
    /// The time at which that byte's age makes a checkpoint due.
    private var dueAt: MonotonicInstant?
    /// The time at which the oldest byte after `pending` was written.
    private var oldestAfterPending: MonotonicInstant?
    private var isPaused = false

    /// The number of bytes that are not yet durable at which reading pauses. The difference to the limit is room for
    /// the bytes in libcurl's buffer, which it may still deliver after a pause.
    private let full: Int64
    /// The room for each of several requests: libcurl's buffer, and the bytes that it delivers at once.
    private let room: Int64
    /// The limits on age, in nanoseconds.
    private let dueAfter: Int64
    private let pauseAfter: Int64

    public init(limits: Limits, offset: Int64) {
        self.limits = limits
        full = max(1, limits.pauseBytes - Int64(clamping: limits.readSize(isShared: false)) - 64 << 10)
        room = Int64(clamping: limits.readSize(isShared: true)) + 16 << 10
        dueAfter = limits.dueAfter.inNanoseconds
        pauseAfter = limits.pauseAfter.inNanoseconds
        committed = offset
        written = offset
    }

    public mutating func onWritten(
        to offset: Int64, now: MonotonicInstant, beside neighbours: Neighbours = Neighbours()
    ) -> Action {
        if offset > written {
            if oldest == nil { oldest = now }
            if pending != nil, oldestAfterPending == nil { oldestAfterPending = now }
            written = offset
        }
        return action(now, neighbours)
    }

    /// Called when the offset is durable. An older offset, or one that was not expected, is valid, too.
    public mutating func onCommitted(
        _ offset: Int64, now: MonotonicInstant, beside neighbours: Neighbours = Neighbours()
    ) -> Action {
        guard offset >= committed, offset <= written else { return action(now, neighbours) }
        let before = committed
        committed = offset
        if let mark = pending, offset >= mark {
            pending = nil
            oldest = offset < written ? oldestAfterPending ?? now : nil
            oldestAfterPending = nil
        } else if pending == nil, offset > before {
            // Another request's checkpoint covered it: what is left was written after that checkpoint began.
            oldest = now
        }
        if committed == written { oldest = nil }
        return action(now, neighbours)
    }

    public mutating func onTime(_ now: MonotonicInstant, beside neighbours: Neighbours = Neighbours()) -> Action {
        action(now, neighbours)
    }

    /// The time of the next call of `onTime`; nil while every byte is durable or only a commit can change anything.
    public var deadline: MonotonicInstant? {
        guard let oldest else { return nil }
        if pending == nil { return dueAt }
        return isPaused ? nil : oldest.advanced(nanoseconds: pauseAfter)
    }

    private mutating func action(_ now: MonotonicInstant, _ neighbours: Neighbours) -> Action {
        let own = written - committed
        let sum = own.addingReportingOverflow(max(0, neighbours.unsynced))
        let unsynced = sum.overflow ? .max : sum.partialValue
        var due: Int64?
        if pending == nil, let dueAt, unsynced >= limits.dueBytes && !neighbours.areSaved || dueAt <= now {
            pending = written
            oldestAfterPending = nil
            due = written
        }
        let isLate = oldest.map { $0.advanced(nanoseconds: pauseAfter) <= now } ?? false
        // A request that pauses has bytes of its own that are not yet durable: their age causes a checkpoint even if no
        // other request asks for one.
        let mayPause = pending != nil || neighbours.count > 0 && own > 0
        isPaused = mayPause && (unsynced >= full(beside: neighbours.count) || isLate)
        return Action(dueOffset: due, isPaused: isPaused)
    }

    private func checkpointTime(_ oldest: MonotonicInstant) -> MonotonicInstant {
        let due = oldest.advanced(nanoseconds: dueAfter)
        let grain = max(1, dueAfter / 8)
        let past = due.nanoseconds % grain
        return past > 0 ? due.advanced(nanoseconds: grain - past) : due
    }

    private func full(beside count: Int) -> Int64 {
        count > 0 ? max(limits.dueBytes, limits.pauseBytes - Int64(clamping: min(count, 64) + 1) * room) : full
    }
}

/// Fast arithmetic for computations with every chunk that arrives: `Duration` computes with 128 bits.
extension MonotonicInstant {
    func advanced(nanoseconds count: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds.addingSaturated(count))
    }
}

extension Duration {
    /// Whole microseconds, in nanoseconds; clamped to a century.
    var inNanoseconds: Int64 { min(max(wholeMicroseconds, -Self.century), Self.century) * 1000 }

    private static var century: Int64 { 100 * 366 * 86_400 * 1_000_000 }
}
