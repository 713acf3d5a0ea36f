import NIOConcurrencyHelpers
import XferModel

/// A lock for async code. The callers that wait enter in order; callers of several users enter in turns, so that one
/// user's many callers delay each caller of another user by one turn at most.
final class AsyncLock: Sendable {
    private struct State {
        var isBusy = false
        /// The waiting callers by user; nil is for callers without a user.
        var waiting: [Owner?: [CheckedContinuation<Void, Never>]] = [:]
        /// The users with waiting callers; the first is next.
        var turns: [Owner?] = []

        mutating func append(_ caller: CheckedContinuation<Void, Never>, of owner: Owner?) {
            if waiting[owner] == nil { turns.append(owner) }
            waiting[owner, default: []].append(caller)
        }

        mutating func removeNext() -> CheckedContinuation<Void, Never>? {
            guard let owner = turns.first, var callers = waiting.removeValue(forKey: owner) else { return nil }
            turns.removeFirst()
            let next = callers.removeFirst()
            if !callers.isEmpty {
                waiting[owner] = callers
                turns.append(owner)
            }
            return next
        }
    }

    private let state = NIOLockedValueBox(State())

    /// Waits for the lock.
    ///
    /// - Parameter owner: the user for whom the caller works.
    func enter(for owner: Owner? = nil) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLockedValue { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.append(continuation, of: owner)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            let next = state.removeNext()
            if next == nil { state.isBusy = false }
            return next
        }
        next?.resume()
    }

    /// The number of waiting callers.
    var waitingCount: Int { state.withLockedValue { $0.waiting.values.reduce(0) { $0 + $1.count } } }
}
