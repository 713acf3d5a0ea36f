import Glibc

/// Thrown when a condition did not become true in time, or when a fixture cannot work.
public struct TimedOut: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Waits until `condition` returns a value, and calls it every 1 to 50 ms. Throws `TimedOut` after `timeout`.
///
/// For facts that cannot be awaited (a file, another process). The timeout only bounds a failing test: no passing test
/// depends on it.
public func eventually<Value>(
    _ what: String, within timeout: Duration = Patience.limit, condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + timeout
    var pause = Duration.milliseconds(1)
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else { throw TimedOut("not within \(timeout): \(what)") }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(50))
    }
}

/// Waits until `condition` is true; see the variant that returns a value.
public func eventually(
    _ what: String, within timeout: Duration = Patience.limit, condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(what, within: timeout) { try await condition() ? () : nil }
}

/// The time for which tests wait for an event that must come, before they fail.
///
/// Only a failing test waits that long. Time limits of tests should be derived from it, so that `XFER_TIME_FACTOR`
/// extends all of them in slow runs, for example under a sanitizer.
public enum Patience {
    /// `XFER_TIME_FACTOR`: the factor by which all limits are longer than usual, 1 unless set.
    public static let factor = getenv("XFER_TIME_FACTOR").flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? 1

    /// The time limit for one step of the tested program: an answer, an event, a file.
    public static var limit: Duration { seconds(60) }

    /// The timeout for many steps together: a program, a download with its retries, whole batches of them.
    public static var long: Duration { seconds(600) }

    /// The time that corresponds to `count` seconds of a run at usual speed.
    public static func seconds(_ count: Int) -> Duration { .seconds(count * factor) }

    /// Makes `recv` and `send` on this socket fail with EAGAIN after `limit`.
    public static func bound(_ descriptor: Int32, by limit: Duration = limit) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }
}
