/// A point on a clock that is never set and counts while the machine sleeps (CLOCK_BOOTTIME, clock_gettime(2)).
///
/// Pure decisions take one as `now`; their callers, which perform the effects, read the clock.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable {
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// From the result of clock_gettime(2).
    public init(seconds: Int, nanoseconds: Int) {
        self.nanoseconds = Int64(clamping: seconds).multipliedSaturated(by: 1_000_000_000).addingSaturated(
            Int64(clamping: nanoseconds))
    }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.components
        let count = seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000)
        return MonotonicInstant(nanoseconds: nanoseconds.addingSaturated(count))
    }

    public func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingSaturated(nanoseconds))
    }
}
