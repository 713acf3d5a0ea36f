import Glibc
import XferModel

/// The two clocks the engine reads.
enum Clocks {
    /// CLOCK_BOOTTIME: deadlines.
    static var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// The wall clock: only for `Retry-After` dates.
    static var wall: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
