import NIOConcurrencyHelpers

/// A lock for async code. The callers that wait enter in order.
final class AsyncLock: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLockedValue { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isBusy = false
            return nil
        }
        next?.resume()
    }
}
