public import XferModel

/// The deadline of a silent transfer. Time in which the service itself has paused the transfer does not count.
public struct IdleDeadline: Hashable, Sendable {
    /// Nanoseconds.
    private let timeout: Int64?
    private var lastActivity: MonotonicInstant?
    private var pausedAt: MonotonicInstant?

    /// Creates the deadline; `timeout` is in seconds, 0 is unlimited. The time before the first `onActivity` does not
    /// count.
    public init(timeout: Double) {
        self.timeout = timeout > 0 ? Int64(saturating: min(timeout, 1e9) * 1e9) : nil
    }

    public mutating func onActivity(_ now: MonotonicInstant) {
        lastActivity = max(lastActivity ?? now, now)
        if pausedAt != nil { pausedAt = now }
    }

    public mutating func onPause(_ now: MonotonicInstant) {
        if pausedAt == nil { pausedAt = now }
    }

    public mutating func onResume(_ now: MonotonicInstant) {
        guard let start = pausedAt else { return }
        pausedAt = nil
        lastActivity = lastActivity?.advanced(by: start.duration(to: now))
    }

    /// Restarts the deadline for a new request, for which nothing has been received.
    public mutating func onRestart() {
        lastActivity = nil
        pausedAt = nil
    }

    /// The time at which the transfer times out unless something arrives; nil while it cannot.
    public var deadline: MonotonicInstant? {
        guard let timeout, pausedAt == nil else { return nil }
        return lastActivity?.advanced(nanoseconds: timeout)
    }
}
