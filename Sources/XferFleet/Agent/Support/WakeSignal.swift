import NIOConcurrencyHelpers

/// Lets one Swift task wait for a signal, or until a time has passed.
///
/// A signal while it does not wait is kept, once.
final class WakeSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let hasRung = NIOLockedValueBox(false)

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ring() {
        hasRung.withLockedValue { $0 = true }
        continuation.yield()
    }

    /// Ends the wait without a ring.
    func nudge() { continuation.yield() }

    /// Returns at once if the Swift task is cancelled.
    ///
    /// - Parameter time: nil is unlimited.
    /// - Returns: true after a signal; false if it was only nudged or the time has passed.
    @discardableResult
    func wait(atMost time: Duration?) async -> Bool {
        let alarm = time.map { time in
            Task { [continuation] in
                if (try? await Task.sleep(for: time)) != nil { continuation.yield() }
            }
        }
        var iterator = stream.makeAsyncIterator()
        _ = await iterator.next()
        alarm?.cancel()
        return hasRung.withLockedValue { hasRung in
            defer { hasRung = false }
            return hasRung
        }
    }
}

/// Signals all waits for a change in the fleet.
final class WakeSignals: Sendable {
    private let signals = NIOLockedValueBox<[ObjectIdentifier: WakeSignal]>([:])

    func ring() { for wakeSignal in signals.withLockedValue({ Array($0.values) }) { wakeSignal.ring() } }

    func add(_ wakeSignal: WakeSignal) { signals.withLockedValue { $0[ObjectIdentifier(wakeSignal)] = wakeSignal } }

    func remove(_ wakeSignal: WakeSignal) {
        signals.withLockedValue { _ = $0.removeValue(forKey: ObjectIdentifier(wakeSignal)) }
    }

    /// Rings for `body` while it runs.
    func with<Value>(_ body: (WakeSignal) async throws -> Value) async rethrows -> Value {
        let wakeSignal = WakeSignal()
        add(wakeSignal)
        defer { remove(wakeSignal) }
        return try await body(wakeSignal)
    }
}
