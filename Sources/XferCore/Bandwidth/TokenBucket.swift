public import XferModel

/// A limit that admits a chunk, records a debt for it, and reports when the debt is paid.
///
/// It starts empty, so there is no initial burst, and saves at most `burst`, for timers that are late.
public struct TokenBucket: Hashable, Sendable {
    /// Bytes per second, at least 1.
    public private(set) var rate: Int64
    /// The number of bytes that may be taken; negative while in debt.
    private var balance: Double = 0
    private var updated: MonotonicInstant

    /// Seconds of unused rate that can be saved: the delays of timers of one millisecond and of a busy loop.
    private static let burst = 0.05
    /// The debt, in seconds, below which a transfer does not pause, so that fast limits do not pause at each chunk.
    private static let patience = 0.02

    public init(rate: Int64, now: MonotonicInstant) {
        self.rate = max(1, rate)
        updated = now
    }

    public mutating func setRate(_ rate: Int64, now: MonotonicInstant) {
        refill(now)
        // A debt made under the old rate is paid in the time it would have taken there.
        if balance < 0 { balance *= Double(max(1, rate)) / Double(self.rate) }
        self.rate = max(1, rate)
    }

    /// Takes the bytes. Returns the time until which no more may be taken; nil when more may be taken at once.
    public mutating func spend(_ count: Int, now: MonotonicInstant) -> MonotonicInstant? {
        refill(now)
        balance -= Double(count)
        return isExhausted ? debtEnd : nil
    }

    /// True if the debt is one worth a pause.
    public mutating func isExhausted(_ now: MonotonicInstant) -> Bool {
        refill(now)
        return isExhausted
    }

    /// The time at which the debt, however small, is paid; nil when there is none.
    public mutating func debtEnd(_ now: MonotonicInstant) -> MonotonicInstant? {
        refill(now)
        return balance < 0 ? debtEnd : nil
    }

    private var isExhausted: Bool { balance < -Double(rate) * Self.patience }

    /// The end of the debt, rounded up: at that instant the debt is zero.
    private var debtEnd: MonotonicInstant {
        let seconds = min(-balance / Double(rate), 1e9)
        return updated.advanced(by: .nanoseconds(Int64(saturating: (seconds * 1e9).rounded(.up))))
    }

    private mutating func refill(_ now: MonotonicInstant) {
        let elapsed = max(0, updated.duration(to: now).inSeconds)
        balance = min(balance + elapsed * Double(rate), Double(rate) * Self.burst)
        updated = max(updated, now)
    }
}
