import XferThreads

/// A connection with a thread of its own, on which libpq blocks. Callers wait in their order.
///
/// It connects with the first statement, and again after the connection broke. While no connection can be made, calls
/// fail at once with the last error until the pause before the next try is over.
public final class PostgresConnection: Sendable {
    private typealias Job = @Sendable (PostgresSession) -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    private let settings: PostgresSettings
    private let state = Locked(State())
    private let hasWork = ThreadCondition()

    /// - Parameter name: of the thread, as ps(1) shows it.
    /// - Throws: `settings`, or `unreachable` if the system gives no thread.
    public init(_ settings: PostgresSettings, name: String) throws(PostgresError) {
        self.settings = settings
        let parameters = try PostgresParameters(settings)
        do throws(ThreadError) {
            try BackgroundThread.start(name) { [state, hasWork] in
                Self.run(PostgresSession(parameters, settings), state, hasWork)
            }
        } catch {
            throw PostgresError(.unreachable, "\(error)")
        }
    }

    deinit { close() }

    /// Ends the connection after the statement under way; the calls that wait fail with `closed`.
    public func close() {
        hasWork.lock()
        state.withLock { $0.isClosed = true }
        hasWork.unlock()
        hasWork.signal()
    }

    /// Runs one statement, which is a transaction of its own.
    ///
    /// A statement that PostgreSQL gave up for another one's sake (`isTransient`) has done nothing and is run again, up
    /// to five times.
    public func execute(_ sql: String, _ parameters: [String?] = []) async throws(PostgresError) -> PostgresResult {
        try await perform { session throws(PostgresError) in
            try session.repeating { session throws(PostgresError) in try session.execute(sql, parameters) }
        }
    }

    /// Runs several statements as one transaction on the connection's thread. `body` must not wait for anything else:
    /// what it has locked stays locked for as long. It runs again if `isTransient`.
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        try await perform { session throws(PostgresError) in
            try session.repeating { session throws(PostgresError) in try session.transaction(body) }
        }
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSession) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let result: Result<Value, PostgresError> = await withCheckedContinuation { continuation in
            let refusal = enqueue { session in
                continuation.resume(returning: Result { () throws(PostgresError) in try body(session) })
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    private func enqueue(_ job: @escaping Job) -> PostgresError? {
        hasWork.lock()
        let refusal: PostgresError? = state.withLock { state in
            if state.isClosed { return PostgresError(.closed, "the connection was closed") }
            guard state.jobs.count < settings.maxWaiting else {
                return PostgresError(.overloaded, "\(settings.maxWaiting) calls wait for the database already")
            }
            state.jobs.append(job)
            return nil
        }
        hasWork.unlock()
        hasWork.signal()
        return refusal
    }

    private static func run(_ session: PostgresSession, _ state: Locked<State>, _ hasWork: ThreadCondition) {
        while true {
            hasWork.lock()
            while state.withLock({ $0.jobs.isEmpty && !$0.isClosed }) { hasWork.wait() }
            let (job, isClosed) = state.withLock { state -> (Job?, Bool) in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
            }
            hasWork.unlock()
            if isClosed { session.close() }
            guard let job else { return }
            job(session)
        }
    }
}
