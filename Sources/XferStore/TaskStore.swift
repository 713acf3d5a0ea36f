import GRDB
import XferThreads

/// The durable record of tasks, transfers, events and settings: one SQLite database in WAL mode with one writer.
///
/// Writes are committed in groups (`GroupCommit`); a write's caller goes on only after its COMMIT is on disk. Nothing is
/// kept in memory per task or host.
public final class TaskStore: Sendable {
    /// Random text made with the database; a new database has another one, and its events begin at 1 again.
    public let storeID: String
    /// Whether the daemon that used this database before did not close it: the caller should run `check` in the
    /// background.
    public let wasStoppedUncleanly: Bool

    let path: String
    private let pool: DatabasePool
    private let commits: GroupCommit

    /// Opens the database, making or migrating it first; recovers its write-ahead log, reads nothing else.
    ///
    /// - Throws: `StoreError.newerDatabase` and `.foreignFile`, which leave the file untouched; `.cannotOpen`, `.damaged`,
    ///   `.notDurable`.
    public static func open(_ configuration: StoreConfiguration) throws(StoreError) -> TaskStore {
        try TaskStore(try DatabaseOpener.open(configuration.path), configuration)
    }

    /// Throws if the file exists and is not for this program. It writes nothing, while `open` needs a directory and a
    /// lock.
    ///
    /// - Throws: `StoreError.newerDatabase` and `.foreignFile`.
    public static func refuseOthers(at path: String) throws(StoreError) {
        do throws(StoreError) {
            try DatabaseOpener.refuseOthers(path)
        } catch {
            // `open` reports more exactly why the database cannot be opened.
            if case .cannotOpen = error { return }
            throw error
        }
    }

    /// Runs `body` in a transaction that is rolled back, on a connection of its own, and leaves the database's files as they
    /// are. Nothing else may use the database. A database that is missing or has to be migrated is left alone.
    ///
    /// - Throws: what a write of the same changes would throw, for example for a damaged page that it touches.
    public static func rehearse(
        _ configuration: StoreConfiguration, _ body: (StoreTransaction) throws -> Void
    ) throws { try DatabaseOpener.rehearse(configuration, body) }

    private init(_ opened: DatabaseOpener.Opened, _ configuration: StoreConfiguration) throws(StoreError) {
        storeID = opened.storeID
        wasStoppedUncleanly = opened.wasStoppedUncleanly
        path = configuration.path
        pool = opened.pool
        commits = try GroupCommit(pool: opened.pool, configuration: configuration)
    }

    /// Whether the last commit failed for lack of space or an I/O error, or the database's files are gone: writes throw
    /// `.degraded`, reads work.
    public var isDegraded: Bool { degradation != nil }

    /// Why the store is degraded; nil when it is not.
    public var degradation: String? { commits.degradation ?? commits.place.fault?.description }

    /// Writes that wait for a commit.
    public var waitingWrites: Int { commits.waitingCount }

    /// Runs `body` in the next group commit, and returns once the COMMIT is durable.
    ///
    /// If `body` throws, only its own changes are rolled back, and the error is thrown here. `body` may run more than
    /// once, when another change-set of its group or the COMMIT failed: it must have no effects but those on the
    /// transaction. It must not block. Cancelling the caller's task does not undo a write.
    /// - Throws: what `body` throws, `StoreError.degraded`, `StoreError.closed`.
    @discardableResult
    public func write<T: Sendable>(
        _ urgency: Urgency = .immediate, _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            commits.submit([PendingWrite(urgency, body) { continuation.resume(with: $0) }])
        }
    }

    /// Runs several bodies in the next group commit, each in a change-set of its own, and returns once all are done: their
    /// results, in their order, as `write` would have returned or thrown them.
    public func write<T: Sendable>(
        each bodies: [@Sendable (StoreTransaction) throws -> T]
    ) async -> [Result<T, any Error>] {
        guard !bodies.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let writes = PendingWrites(count: bodies.count, continuation)
            commits.submit(bodies.enumerated().map { writes.write($0, $1) })
        }
    }

    /// Runs `body` on a consistent snapshot, beside the writer, seeing everything committed before the call.
    public func read<T: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> T) async throws -> T {
        guard !commits.isClosed else { throw StoreError.closed }
        return try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { access in
                // The thread is libdispatch's.
                FaultStack.prepare()
                continuation.resume(
                    with: Result {
                        do {
                            return try body(StoreReader(Connection(try access.get())))
                        } catch let error as DatabaseError {
                            throw StoreError(from: error)
                        }
                    })
            }
        }
    }

    /// Commits the waiting changes, refuses new ones, waits for reads, empties the write-ahead log and closes the file.
    /// Blocks; a second call does nothing.
    public func close() throws(StoreError) {
        guard !commits.isClosed else { return }
        let mayEmptyLog = commits.close()
        do {
            pool.releaseMemory()
            // A full disk leaves a log, which the next start recovers. A reader may be closed after the writer, and
            // then only the writer could have emptied the log: so the writer does it first.
            if mayEmptyLog { _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
            try pool.close()
        } catch {
            throw StoreError(from: error)
        }
    }
}
