import Glibc

/// Thrown when a condition did not come true within its time.
public struct TimedOut: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Waits until `condition` gives a value, looking again every few milliseconds; throws `TimedOut` after `timeout`.
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

/// Waits until `condition` is true; see the variant that gives a value.
public func eventually(
    _ what: String, within timeout: Duration = Patience.limit, condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(what, within: timeout) { try await condition() ? () : nil }
}

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
