import Glibc

/// A point in time to give up at, on a clock that is never set.
struct Deadline {
    /// Nil never comes.
    private let nanoseconds: Int64?

    init(after timeout: Duration?) {
        nanoseconds = timeout.map { Self.now() &+ max(0, Self.nanoseconds(of: $0)) }
    }

    /// Milliseconds to hand to poll(2), rounded up; −1 without a deadline; nil once it has passed.
    var pollTimeout: Int32? {
        guard let nanoseconds else { return -1 }
        let left = nanoseconds - Self.now()
        guard left > 0 else { return nil }
        return Int32(clamping: (left + 999_999) / 1_000_000)
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(clamping: time.tv_sec) * 1_000_000_000 + Int64(clamping: time.tv_nsec)
    }

    /// Clamped to about a hundred years so that adding to a clock cannot overflow.
    private static func nanoseconds(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(max(seconds, 0), 3_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
