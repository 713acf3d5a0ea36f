import NIOConcurrencyHelpers
public import XferModel

/// A clock that only the test moves.
public final class ManualClock: Clock, Sendable {
    private struct State {
        var now: MonotonicInstant
        var nextID = 0
        var sleepers: [Int: (deadline: MonotonicInstant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: NIOLockedValueBox<State>

    public init(now: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000)) {
        state = NIOLockedValueBox(State(now: now))
    }

    public var now: MonotonicInstant { state.withLockedValue(\.now) }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of calls of `sleep` that have not returned yet.
    public var sleeperCount: Int { state.withLockedValue(\.sleepers.count) }

    /// Advances the clock and wakes the sleepers whose time has passed, in the order of their deadlines.
    public func advance(by duration: Duration) {
        let woken = state.withLockedValue { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }.sorted {
                $0.value.deadline < $1.value.deadline
            }
            for (id, _) in due { state.sleepers.removeValue(forKey: id) }
            return due.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    public func sleep(until deadline: MonotonicInstant, tolerance: Duration? = nil) async throws {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLockedValue { state in
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else if deadline <= state.now {
                        continuation.resume()
                    } else {
                        state.sleepers[id] = (deadline, continuation)
                    }
                }
            }
        } onCancel: {
            state.withLockedValue { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(
                throwing: CancellationError())
        }
    }
}
