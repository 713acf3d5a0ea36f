import Glibc
public import XferModel

/// The system's clocks (clock_gettime(2)).
public enum Clocks {
    /// The time of CLOCK_REALTIME.
    public static func wall() -> Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(seconds: now.tv_sec, nanoseconds: now.tv_nsec)
    }

    /// The time of CLOCK_BOOTTIME: it cannot be set, and it continues while the machine sleeps.
    public static func monotonic() -> MonotonicInstant {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return MonotonicInstant(seconds: now.tv_sec, nanoseconds: now.tv_nsec)
    }
}
