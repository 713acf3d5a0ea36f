/// Change-sets whose caller waits for all of them.
///
/// `@unchecked Sendable`: what changes is behind a lock.
final class PendingWrites<Value: Sendable>: @unchecked Sendable {
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
        PendingPart(whole: self, number: number, body: body)
    }

    fileprivate func settle(_ number: Int, _ result: Result<Value, any Error>) {
        let results = state.withLock { state -> [Result<Value, any Error>]? in
            state.results[number] = result
            state.openCount -= 1
            return state.openCount == 0 ? state.results.compactMap(\.self) : nil
        }
        if let results { continuation.resume(returning: results) }
    }
}

/// One of several change-sets.
///
/// `@unchecked Sendable`: `value` is only touched on the writer's queue.
private final class PendingPart<Value: Sendable>: ChangeSet, @unchecked Sendable {
    let urgency = Urgency.immediate
    private let whole: PendingWrites<Value>
    private let number: Int
    private let body: @Sendable (StoreTransaction) throws -> Value
    private var value: Value?

    init(whole: PendingWrites<Value>, number: Int, body: @escaping @Sendable (StoreTransaction) throws -> Value) {
        self.whole = whole
        self.number = number
        self.body = body
    }

    func execute(in transaction: StoreTransaction) throws { value = try body(transaction) }

    func succeed() {
        guard let value else { preconditionFailure("a change-set succeeded that was never executed") }
        whole.settle(number, .success(value))
    }

    func fail(_ error: any Error) { whole.settle(number, .failure(error)) }
}
