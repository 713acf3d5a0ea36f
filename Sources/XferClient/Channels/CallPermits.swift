import NIOConcurrencyHelpers

/// Limits how many calls of a client are under way, so that its connections stay few. Callers that wait are served in
/// order.
final class CallPermits: Sendable {
    private struct State {
        var free: Int
        /// The waiting callers, by the number of their turn.
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextTurn: UInt64 = 0
        /// The lowest turn that still waits.
        var firstTurn: UInt64 = 0

        mutating func removeFirst() -> CheckedContinuation<Bool, Never>? {
            while firstTurn < nextTurn {
                defer { firstTurn += 1 }
                if let found = waiting.removeValue(forKey: firstTurn) { return found }
            }
            return nil
        }
    }

    private let state: NIOLockedValueBox<State>

    init(_ count: Int) { state = NIOLockedValueBox(State(free: count)) }

    /// Waits for a permit, which has to be released.
    ///
    /// - Throws: `CancellationError`.
    func acquire() async throws {
        let turn = state.withLockedValue { state in
            defer { state.nextTurn += 1 }
            return state.nextTurn
        }
        let isGiven = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLockedValue { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting[turn] = continuation
                    // Others may have been served between the two.
                    state.firstTurn = min(state.firstTurn, turn)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLockedValue { $0.waiting.removeValue(forKey: turn) }?.resume(returning: false)
        }
        if !isGiven { throw CancellationError() }
    }

    /// The number of callers that wait.
    var waitingCount: Int { state.withLockedValue(\.waiting.count) }

    func release() {
        let next = state.withLockedValue { state -> CheckedContinuation<Bool, Never>? in
            if let next = state.removeFirst() { return next }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
