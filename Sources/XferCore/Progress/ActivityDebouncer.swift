public import XferModel

/// The activity of transfers, without flicker: active once a transfer has run for 1 s, inactive 0.17 s after the last
/// one ended; new work within that time keeps it active. Class of origin: AFNetworkActivityIndicatorManager.
public struct ActivityDebouncer: Hashable, Sendable {
    public static let activationDelay = Duration.seconds(1)
    public static let completionDelay = Duration.milliseconds(170)

    public private(set) var isActive = false
    /// The time at which the number of running transfers began to differ from the shown state.
    private var differingSince: MonotonicInstant?

    public init() {}

    /// Sets the number of running transfers. Returns when to call `onTimer`, nil when nothing is pending.
    public mutating func onCount(_ running: Int, at now: MonotonicInstant) -> MonotonicInstant? {
        guard (running > 0) != isActive else {
            differingSince = nil
            return nil
        }
        let since = differingSince ?? now
        differingSince = since
        return since.advanced(by: isActive ? Self.completionDelay : Self.activationDelay)
    }

    /// Called when the timer has fired. Returns the new state when it changed.
    public mutating func onTimer(at now: MonotonicInstant) -> Bool? {
        guard let since = differingSince,
            since.advanced(by: isActive ? Self.completionDelay : Self.activationDelay) <= now
        else { return nil }
        differingSince = nil
        isActive.toggle()
        return isActive
    }
}
