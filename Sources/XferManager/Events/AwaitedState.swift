import NIOConcurrencyHelpers

/// A state behind a lock that others change and one reader waits for.
final class AwaitedState<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiter: CheckedContinuation<Void, Never>?

        mutating func removeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state: NIOLockedValueBox<State>
    private let isDue: @Sendable (Value) -> Bool

    /// - Parameter isDue: true if there is something to read, including the end.
    init(_ value: Value, isDue: @escaping @Sendable (Value) -> Bool) {
        state = NIOLockedValueBox(State(value: value))
        self.isDue = isDue
    }

    /// Reads and changes the state without waking the reader.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try state.withLockedValue { try body(&$0.value) }
    }

    /// Changes the state and wakes the reader, outside the lock, if there is something to read.
    func change(_ change: (inout Value) -> Void) {
        let waiter = state.withLockedValue { state in
            change(&state.value)
            return isDue(state.value) ? state.removeWaiter() : nil
        }
        waiter?.resume()
    }

    /// Waits until there is something to read, or the caller is cancelled. For one reader.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLockedValue { state in
                    guard !isDue(state.value), !Task.isCancelled else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.removeWaiter() }?.resume()
        }
    }
}
