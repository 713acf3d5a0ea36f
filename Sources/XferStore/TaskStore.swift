/// The durable record of tasks, transfers, events and settings: one SQLite database in WAL mode with one writer.
///
/// Writes are committed in groups (`GroupCommit`); a write's caller goes on only after its COMMIT is on disk.
public final class TaskStore: Sendable {
    /// Opens the database, making or migrating it first; recovers its write-ahead log, reads nothing else.
    ///
    /// - Throws: `StoreError.newerDatabase` and `.foreignFile` leave the file untouched.
    public static func open(_ configuration: StoreConfiguration) throws(StoreError) -> TaskStore {
        fatalError("in the making")
    }

    /// Random text made with the database; a new database has another one, and its events begin at 1 again.
    public var storeID: String { fatalError("in the making") }

    /// Whether the daemon that used this database before did not close it: the caller should run `check` in the
    /// background.
    public var wasStoppedUncleanly: Bool { fatalError("in the making") }

    /// Whether the last commit failed for want of space or an I/O error: writes throw `.degraded`, reads work.
    public var isDegraded: Bool { fatalError("in the making") }

    /// Runs `body` in the next group commit, within its own savepoint, and returns once the COMMIT is durable.
    ///
    /// What `body` throws undoes its own changes only and is thrown here. `body` may run twice, when a group's COMMIT
    /// failed and its change-sets are tried singly: it must have no effects but those on the transaction. It must not
    /// block.
    /// - Throws: what `body` throws, `StoreError.degraded`, `StoreError.closed`.
    public func write<T: Sendable>(
        _ urgency: Urgency = .immediate, _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T {
        fatalError("in the making")
    }

    /// Runs `body` on a consistent snapshot, beside the writer, seeing everything committed before the call.
    public func read<T: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> T) async throws -> T {
        fatalError("in the making")
    }

    /// Commits what was handed in, refuses what comes later, waits for reads and empties the write-ahead log.
    public func close() throws(StoreError) { fatalError("in the making") }
}
