public import XferModel

/// Finds an attempt that receives too slowly: less than `rate` bytes per second over a window of time. Time in which
/// the service itself has paused the attempt, or was busy with other work, does not count.
public struct RateFloor: Hashable, Sendable {
    /// Bytes per second.
    public let rate: Int64
    /// The length of a window, in nanoseconds.
    private let window: Int64
    /// The beginning of the present window, moved by the pauses in it; nil while nothing is expected.
    private var start: MonotonicInstant?
    private var pausedAt: MonotonicInstant?
    /// The number of bytes received in the current window.
    private var received: Int64 = 0
    /// The service's own delays as of the window's beginning.
    private var delays = Duration.zero

    /// Creates the floor. Returns nil if there is no lowest rate.
    ///
    /// - Parameters:
    ///   - rate: bytes per second; 0 is none.
    ///   - time: seconds; 0 is none.
    public init?(rate: Int64, time: Double) {
        guard rate > 0, time > 0 else { return nil }
        self.rate = rate
        window = max(1, Int64(saturating: min(time, 1e9) * 1e9))
    }

    /// Starts the window: bytes are expected from now on.
    ///
    /// - Parameter delays: the sum of the service's own delays so far.
    public mutating func begin(_ now: MonotonicInstant, delays: Duration) {
        start = now
        received = 0
        self.delays = delays
        if pausedAt != nil { pausedAt = now }
    }

    /// Records that nothing is expected until the next `begin`.
    public mutating func end() {
        start = nil
        pausedAt = nil
    }

    public mutating func onBytes(_ count: Int) { received = received.addingSaturated(Int64(clamping: count)) }

    public mutating func onPause(_ now: MonotonicInstant) {
        if pausedAt == nil { pausedAt = now }
    }

    public mutating func onResume(_ now: MonotonicInstant) {
        guard let pause = pausedAt else { return }
        pausedAt = nil
        start = start?.advanced(by: pause.duration(to: now))
    }

    /// The end of the window; nil while nothing is expected or the attempt is paused.
    public var deadline: MonotonicInstant? {
        guard pausedAt == nil else { return nil }
        return start?.advanced(nanoseconds: window)
    }

    /// True if the window has ended with too few bytes. Otherwise the next window begins.
    ///
    /// - Parameter delays: the sum of the service's own delays so far.
    public mutating func isTooSlow(_ now: MonotonicInstant, delays: Duration) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let own = delays - self.delays
        if own > .zero {
            // The window lasts longer by them.
            self.delays = delays
            start = start?.advanced(by: own)
            return false
        }
        // A process that was stopped comes too late to know what the server could have sent.
        let isLate = now > deadline.advanced(nanoseconds: window / 2)
        let wanted = Int64(saturating: Double(rate) * (Double(window) / 1e9))
        if received < max(1, wanted), !isLate { return true }
        begin(now, delays: delays)
        return false
    }
}
