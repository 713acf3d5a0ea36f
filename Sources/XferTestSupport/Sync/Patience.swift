import Glibc

/// How long tests wait for an event that must come, before they fail.
///
/// Only a failing test ever waits that long. Every such limit comes from here, so that `XFER_TIME_FACTOR` extends all
/// of them in slow runs, under a sanitizer for example.
public enum Patience {
    /// `XFER_TIME_FACTOR`: how many times slower than usual everything may be, 1 unless set.
    public static let factor = getenv("XFER_TIME_FACTOR").flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? 1

    /// For one step of the tested program: an answer, an event, a file.
    public static var limit: Duration { seconds(60) }

    /// For many steps together: a program, a download with its retries, whole batches of them.
    public static var long: Duration { seconds(600) }

    /// So many seconds of a machine that is not slowed down.
    public static func seconds(_ count: Int) -> Duration { .seconds(count * factor) }

    /// Lets `recv` on this socket give up with EAGAIN after `limit`.
    public static func bound(_ descriptor: Int32, by limit: Duration = limit) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
