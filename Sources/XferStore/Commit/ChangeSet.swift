/// One caller's changes, waiting for their commit.
protocol ChangeSet: AnyObject, Sendable {
    var urgency: Urgency { get }
    /// Runs the caller's body and keeps what it returns; may be called again when the transaction was undone.
    func execute(in transaction: StoreTransaction) throws
    /// Lets the caller go on, after the COMMIT, with what the body returned.
    func succeed()
    func fail(_ error: any Error)
}

/// A change-set whose body returns a `Result`.
///
/// `@unchecked Sendable`: `result` is only touched on the writer's queue.
final class PendingWrite<Result: Sendable>: ChangeSet, @unchecked Sendable {
    let urgency: Urgency
    private let body: @Sendable (StoreTransaction) throws -> Result
    private let continuation: CheckedContinuation<Result, any Error>
    private var result: Result?

    init(
        _ urgency: Urgency, _ body: @escaping @Sendable (StoreTransaction) throws -> Result,
        _ continuation: CheckedContinuation<Result, any Error>
    ) {
        self.urgency = urgency
        self.body = body
        self.continuation = continuation
    }

    func execute(in transaction: StoreTransaction) throws { result = try body(transaction) }

    func succeed() {
        guard let result else { preconditionFailure("a change-set succeeded that was never executed") }
        continuation.resume(returning: result)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
