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
