import NIOConcurrencyHelpers
import NIOCore

/// A result that is set once, and the Swift tasks that wait for it. A cancelled Swift task stops waiting at once.
final class Arrival<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var lastWaiter = 0
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    }

    private let state = NIOLockedValueBox(State())

    /// Sets the first result; later ones are ignored.
    func complete(_ result: Result<Value, any Error>) {
        let woken = state.withLockedValue { state in
            if state.result == nil { state.result = result }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume(with: result) }
    }

    /// The value; waits until it is set.
    ///
    /// - Throws: the error that the arrival was completed with, or `CancellationError`.
    var value: Value {
        get async throws {
            let id = state.withLockedValue { state in
                state.lastWaiter += 1
                return state.lastWaiter
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let result: Result<Value, any Error>? = state.withLockedValue { state in
                        // A Swift task that was cancelled before is no longer found by `onCancel`.
                        let result = state.result ?? (Task.isCancelled ? .failure(CancellationError()) : nil)
                        if result == nil { state.waiting[id] = continuation }
                        return result
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                state.withLockedValue { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
            }
        }
    }
}

extension Arrival {
    /// The result of an event loop's future.
    convenience init(_ future: EventLoopFuture<Value>) {
        self.init()
        future.whenComplete { self.complete($0) }
    }
}
