import XferThreads

/// Change-sets whose caller waits for all of them.
final class PendingWrites<Value: Sendable>: Sendable {
    private struct State {
        var results: [Result<Value, any Error>?]
        var openCount: Int
    }

    private let state: Locked<State>
    private let continuation: CheckedContinuation<[Result<Value, any Error>], Never>

    init(count: Int, _ continuation: CheckedContinuation<[Result<Value, any Error>], Never>) {
        state = Locked(State(results: Array(repeating: nil, count: count), openCount: count))
        self.continuation = continuation
    }

    /// The change-set of this number, counted from 0.
    func write(_ number: Int, _ body: @escaping @Sendable (StoreTransaction) throws -> Value) -> any ChangeSet {
        PendingWrite(.immediate, body) { self.settle(number, $0) }
    }

    private func settle(_ number: Int, _ result: Result<Value, any Error>) {
        let results = state.withLock { state -> [Result<Value, any Error>]? in
            state.results[number] = result
            state.openCount -= 1
            return state.openCount == 0 ? state.results.compactMap(\.self) : nil
        }
        if let results { continuation.resume(returning: results) }
    }
}
