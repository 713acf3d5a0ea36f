import GRDB
public import XferModel
import XferSystem

/// The durable record of tasks, transfers, events and settings: one SQLite database in WAL mode with one writer.
///
/// Writes are committed in groups (`GroupCommit`); a write returns to its caller only after its COMMIT is on disk.
/// Nothing is kept in memory per task or host.
public final class TaskStore: Sendable {
    /// A random text that is created with the database. A new database has another one, and its events begin at 1
    /// again.
    public let storeID: String
    /// True if the previous daemon left a write-ahead log, for example because it crashed. The caller should then run
    /// `check` in the background.
    public let wasStoppedUncleanly: Bool
    /// True if `open` made the database.
    public let isNew: Bool

    let path: String
    let pool: DatabasePool
    let commits: GroupCommit

    /// Opens the database, after creating or migrating it if needed. It recovers the write-ahead log and reads no
    /// tasks.
    ///
    /// - Throws: `StoreError.newerDatabase` and `.foreignFile`, which do not change the file; `.cannotOpen`,
    ///   `.damaged`, `.notDurable`.
    public static func open(_ configuration: StoreConfiguration) throws(StoreError) -> TaskStore {
        try TaskStore(try DatabaseOpener.open(configuration.path), configuration)
    }

    /// Throws if the file exists and belongs to a newer version or to another program. Unlike `open` it writes nothing,
    /// and needs neither a directory nor a lock.
    ///
    /// - Throws: `StoreError.newerDatabase` and `.foreignFile`.
    public static func refuseOthers(at path: String) throws(StoreError) {
        do throws(StoreError) {
            try DatabaseOpener.refuseOthers(path)
        } catch {
            // `open` reports in more detail why the database cannot be opened.
            if case .cannotOpen = error { return }
            throw error
        }
    }

    /// Runs `body` in a transaction that is rolled back, on a connection of its own. The database's files do not
    /// change.
    ///
    /// Nothing else may use the database meanwhile. If the database is missing or has to be migrated, `body` is not
    /// run.
    ///
    /// - Throws: the errors that a write of the same changes would throw, for example for a damaged page that it
    ///   touches.
    public static func rehearse(
        _ configuration: StoreConfiguration, _ body: (StoreTransaction) throws -> Void
    ) throws { try DatabaseOpener.rehearse(configuration, body) }

    private init(_ opened: DatabaseOpener.Opened, _ configuration: StoreConfiguration) throws(StoreError) {
        storeID = opened.storeID
        wasStoppedUncleanly = opened.wasStoppedUncleanly
        isNew = opened.isNew
        path = configuration.path
        pool = opened.pool
        commits = try GroupCommit(pool: opened.pool, configuration: configuration)
    }

    /// True if writes throw `.degraded` while reads work. That is the case if the last commit failed for lack of space
    /// or with an I/O error, or if the database's files were removed.
    public var isDegraded: Bool { degradation != nil }

    /// The reason why the store is degraded; nil when it is not.
    public var degradation: String? { commits.examineDegradation() }

    /// The tasks of brief runs.
    public var uncommittedStarts: UncommittedStarts { commits.uncommittedStarts }

    /// The number of writes that wait for a commit.
    public var waitingWrites: Int { commits.waitingCount }

    /// Sets the webhooks that follow events. From the next transaction on, the store records their deliveries, as many
    /// as the limits allow.
    public func follow(_ webhooks: WebhookSubscriptions?, within limits: DeliveryLimits = DeliveryLimits()) {
        commits.follow(webhooks, within: limits)
    }

    /// Runs `body` in the next group commit, and returns once the COMMIT is durable.
    ///
    /// If `body` throws, only its own changes are rolled back, and the error is thrown here. `body` runs again if
    /// another change-set of its group or the COMMIT failed, so it must have no effects except on the transaction. It
    /// must not block. Cancelling the caller's task does not undo a write.
    ///
    /// - Throws: the errors of `body`, `StoreError.degraded`, `StoreError.closed`.
    @discardableResult
    public func write<T: Sendable>(
        _ urgency: Urgency = .immediate, _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            commits.submit([PendingWrite(urgency, body) { continuation.resume(with: $0) }])
        }
    }

    /// Runs several bodies in the next group commit, each in a change-set of its own, and returns when all are done.
    ///
    /// - Returns: the result or error of each body, in the order of `bodies`.
    public func write<T: Sendable>(
        each bodies: [@Sendable (StoreTransaction) throws -> T]
    ) async -> [Result<T, any Error>] {
        guard !bodies.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let writes = PendingWrites(count: bodies.count, continuation)
            commits.submit(bodies.enumerated().map { writes.write($0, $1) })
        }
    }

    /// Runs `body` on a consistent snapshot with everything that was committed before the call. The writer continues
    /// meanwhile.
    public func read<T: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> T) async throws -> T {
        guard !commits.isClosed else { throw StoreError.closed }
        return try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { [pool] access in
                if case .failure(let error as DatabaseError) = access, error.resultCode == .SQLITE_CANTOPEN {
                    // All readers are in use, and there is no descriptor for another one. Between two transactions the
                    // writer reads as well.
                    pool.asyncWriteWithoutTransaction { Self.read(.success($0), body, continuation) }
                } else {
                    Self.read(access, body, continuation)
                }
            }
        }
    }

    /// Like `read`, for bodies that show tasks or select them by their states: starts that are not committed are
    /// committed first, so that the rows of running tasks say that they run.
    public func readStates<T: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> T) async throws -> T {
        await uncommittedStarts.prepareRead()
        return try await read(body)
    }

    private static func read<T: Sendable>(
        _ access: Result<Database, any Error>, _ body: @Sendable (StoreReader) throws -> T,
        _ continuation: CheckedContinuation<T, any Error>
    ) {
        // libdispatch started this thread, so it may lack a stack for the handler of fatal signals.
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

    /// Commits the waiting changes, refuses new ones, waits for reads, empties the write-ahead log and closes the file.
    /// Blocks; a second call does nothing.
    public func close() throws(StoreError) {
        guard !commits.isClosed else { return }
        let mayEmptyLog = commits.close()
        do {
            pool.releaseMemory()
            // On a full disk the log stays, and the next start recovers it. The writer empties the log before the pool
            // is closed: a reader may be closed after the writer and cannot empty the log.
            if mayEmptyLog { _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
            try pool.close()
        } catch {
            throw StoreError(from: error)
        }
    }
}
