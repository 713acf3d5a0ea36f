public import XferModel

/// When received bytes have to be made durable, and when reading has to wait for it.
///
/// One checkpoint is under way at a time. Bytes are at stake from the moment they are written until a committed offset
/// has passed them.
public struct CheckpointWindow: Hashable, Sendable {
    public struct Limits: Hashable, Sendable {
        /// A checkpoint is due when that many bytes are unsaved …
        public var dueBytes: Int64
        /// … or the oldest of them is that old.
        public var dueAfter: Duration
        /// Reading pauses before that many bytes are at stake …
        public var pauseBytes: Int64
        /// … or the oldest of them is that old.
        public var pauseAfter: Duration

        /// Most bytes that are to be read at once: fewer calls for a fast transfer, as long as it is little beside what may
        /// be at stake.
        public var readSize: Int { Int(clamping: min(max(pauseBytes / 64, 64 << 10), 240 << 10)) }

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

    /// What to do now.
    public struct Action: Hashable, Sendable {
        /// Make the bytes below this offset durable and commit it.
        public var dueOffset: Int64?
        /// Whether reading has to wait.
        public var isPaused: Bool

        public init(dueOffset: Int64?, isPaused: Bool) {
            self.dueOffset = dueOffset
            self.isPaused = isPaused
        }
    }

    public let limits: Limits
    private var committed: Int64
    private var written: Int64
    /// Offset of the checkpoint under way.
    private var pending: Int64?
    /// When the oldest byte at stake was written; nil while nothing is.
    private var oldest: MonotonicInstant?
    /// When the oldest byte after `pending` was written.
    private var oldestAfterPending: MonotonicInstant?
    private var isPaused = false

    /// Bytes at stake that reading pauses at: there is room for what libcurl may still hand over once it was told to pause,
    /// which is its buffer.
    private let full: Int64
    /// The limits on age, in nanoseconds.
    private let dueAfter: Int64
    private let pauseAfter: Int64

    public init(limits: Limits, offset: Int64) {
        self.limits = limits
        full = max(1, limits.pauseBytes - Int64(clamping: limits.readSize) - 64 << 10)
        dueAfter = limits.dueAfter.inNanoseconds
        pauseAfter = limits.pauseAfter.inNanoseconds
        committed = offset
        written = offset
    }

    public mutating func onWritten(to offset: Int64, now: MonotonicInstant) -> Action {
        if offset > written {
            if oldest == nil { oldest = now }
            if pending != nil, oldestAfterPending == nil { oldestAfterPending = now }
            written = offset
        }
        return action(now)
    }

    /// The offset is durable. Older or unexpected offsets are taken for what they are.
    public mutating func onCommitted(_ offset: Int64, now: MonotonicInstant) -> Action {
        guard offset >= committed, offset <= written else { return action(now) }
        let before = committed
        committed = offset
        if let mark = pending, offset >= mark {
            pending = nil
            oldest = offset < written ? oldestAfterPending ?? now : nil
            oldestAfterPending = nil
        } else if pending == nil, offset > before {
            // Somebody else's checkpoint covered it: what is left was written during that.
            oldest = now
        }
        if committed == written { oldest = nil }
        return action(now)
    }

    public mutating func onTime(_ now: MonotonicInstant) -> Action { action(now) }

    /// When `onTime` has to be called next; nil while nothing is at stake or only a commit can change anything.
    public var deadline: MonotonicInstant? {
        guard let oldest else { return nil }
        if pending == nil { return oldest.advanced(nanoseconds: dueAfter) }
        return isPaused ? nil : oldest.advanced(nanoseconds: pauseAfter)
    }

    private var isFull: Bool { written - committed >= full }

    private mutating func action(_ now: MonotonicInstant) -> Action {
        var due: Int64?
        if pending == nil, let oldest,
            written - committed >= limits.dueBytes || oldest.advanced(nanoseconds: dueAfter) <= now
        {
            pending = written
            oldestAfterPending = nil
            due = written
        }
        let isLate = oldest.map { $0.advanced(nanoseconds: pauseAfter) <= now } ?? false
        isPaused = pending != nil && (isFull || isLate)
        return Action(dueOffset: due, isPaused: isPaused)
    }
}
