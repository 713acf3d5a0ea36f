import XferSystem

/// The changes of one caller that wait for their commit.
protocol ChangeSet: AnyObject, Sendable {
    var urgency: Urgency { get }
    /// Runs the caller's body and keeps its result; may be called again after a rollback.
    func execute(in transaction: StoreTransaction) throws
    /// Resumes the caller after the COMMIT, with the result of the body.
    func succeed()
    func fail(_ error: any Error)
}

/// A change-set whose body returns a value.
///
/// `@unchecked Sendable`: `value` is only touched on the writer's queue.
final class PendingWrite<Value: Sendable>: ChangeSet, @unchecked Sendable {
    let urgency: Urgency
    private let body: @Sendable (StoreTransaction) throws -> Value
    private let onEnd: @Sendable (Result<Value, any Error>) -> Void
    private var value: Value?

    init(
        _ urgency: Urgency, _ body: @escaping @Sendable (StoreTransaction) throws -> Value,
        onEnd: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.urgency = urgency
        self.body = body
        self.onEnd = onEnd
    }

    func execute(in transaction: StoreTransaction) throws { value = try body(transaction) }

    func succeed() {
        guard let value else { preconditionFailure("a change-set succeeded that was never executed") }
        onEnd(.success(value))
    }

    func fail(_ error: any Error) { onEnd(.failure(error)) }
}

/// Change-sets of a caller that waits for all of them.
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
