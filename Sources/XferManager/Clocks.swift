import Glibc
public import XferModel

/// Reads the wall clock; tests pass one of their own.
public typealias WallClock = @Sendable () -> Timestamp

/// The system's clocks (clock_gettime(2)).
public enum Clocks {
    /// CLOCK_REALTIME.
    public static let wall: WallClock = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    }

    /// CLOCK_BOOTTIME: never set, counts while the machine sleeps.
    public static func monotonic() -> MonotonicInstant {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return MonotonicInstant(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
    }
}
