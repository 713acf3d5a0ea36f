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
        var watch: Watch?
        /// Until when the thread sleeps for the sake of a watch.
        var wakesAt: SuspendingClock.Instant?
    }

    /// A statement that is repeated.
    private struct Watch: Sendable {
        let sql: String
        let parameters: [String?]
        let interval: Duration
        var due: SuspendingClock.Instant
        let ring: @Sendable () -> Void
    }

    /// What the thread does next.
    private enum Step {
        case run(Job)
        case look(Watch)
        case end
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

    // MARK: Watching

    /// Runs a statement once an interval, and calls `ring` if the first column of its first row is true or if it fails.
    ///
    /// No other thread wakes up for an answer that is false. Another call replaces the watch.
    ///
    /// - Parameter ring: called on the connection's thread; must not block.
    public func watch(
        _ sql: String, _ parameters: [String?] = [], every interval: Duration, ring: @escaping @Sendable () -> Void
    ) {
        let now = SuspendingClock.now
        hasWork.lock()
        let mustWake = state.withLock { state in
            // The thread sleeps until then anyway.
            let known = state.wakesAt.flatMap { $0 > now && now.duration(to: $0) <= interval ? $0 : nil }
            state.watch = Watch(
                sql: sql, parameters: parameters, interval: interval, due: known ?? now.advanced(by: interval),
                ring: ring)
            return known == nil
        }
        hasWork.unlock()
        if mustWake { hasWork.signal() }
    }

    /// Ends the watch. A statement under way may still ring.
    public func endWatch() { state.withLock { $0.watch = nil } }

    // MARK: The thread

    private static func run(_ session: PostgresSession, _ state: Locked<State>, _ hasWork: ThreadCondition) {
        while true {
            let step = next(state, hasWork)
            if state.withLock({ $0.isClosed }) { session.close() }
            switch step {
            case .run(let job): job(session)
            case .look(let watch):
                let isQuiet = (try? session.execute(watch.sql, watch.parameters).first?.bool(0)) == false
                if !isQuiet { watch.ring() }
            case .end: return
            }
        }
    }

    /// Waits for something to do.
    private static func next(_ state: Locked<State>, _ hasWork: ThreadCondition) -> Step {
        hasWork.lock()
        defer { hasWork.unlock() }
        while true {
            let now = SuspendingClock.now
            let step: Step? = state.withLock { state in
                state.wakesAt = nil
                if !state.jobs.isEmpty { return .run(state.jobs.removeFirst()) }
                if state.isClosed { return .end }
                guard let watch = state.watch else { return nil }
                guard watch.due <= now else {
                    state.wakesAt = watch.due
                    return nil
                }
                state.watch?.due = now.advanced(by: watch.interval)
                return .look(watch)
            }
            if let step { return step }
            if let due = state.withLock({ $0.wakesAt }) { hasWork.wait(until: due) } else { hasWork.wait() }
        }
    }
}
