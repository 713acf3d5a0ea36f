import GRDB
import GRDBSQLite
import XferSystem

/// Keeps the write-ahead log short, by the decisions of `WALCheckpointPlan`: moves it into the database on a thread and
/// a connection of its own.
///
/// Commits continue meanwhile: moving takes no lock that a writer needs (https://sqlite.org/wal.html#ckpt). By default
/// SQLite moves the log within the commit that makes it long, and other commits would wait for that.
///
/// `@unchecked Sendable`: `queue` is only used on `thread`, and after its end by the caller that ended it; `length` on
/// the writer's queue.
final class WALCheckpointer: @unchecked Sendable {
    private let queue: DatabaseQueue
    private let plan: Locked<WALCheckpointPlan>
    private let length = LogLength()
    /// The time at which pages were moved last, or the store was opened.
    private let movedAt = Locked(ContinuousClock.now)
    /// The thread, set once in `init`.
    private var thread: StoreThread?

    /// - Parameter writer: the connection that commits, on its queue.
    /// - Throws: `StoreError.cannotOpen` when the system cannot create a thread, GRDB's errors.
    init(_ configuration: StoreConfiguration, writer: Database) throws {
        plan = Locked(WALCheckpointPlan(configuration.logLimits))
        queue = try DatabaseOpener.openBeside(configuration.path)
        thread = try StoreThread("xferd-log", path: configuration.path) { [weak self] in self?.moveBeside() }
        length.follow(writer)
    }

    deinit { thread?.end() }

    /// The time since pages were moved last.
    var age: Duration { movedAt.withLock { $0.duration(to: .now) } }

    /// Called after every commit, on the writer's queue.
    func onCommit(_ writer: Database) {
        switch plan.withLock({ $0.onCommit(length: length.pages) }) {
        case .nothing: break
        case .moveBeside: thread?.request()
        case .move:
            thread?.await()
            // It may have been given up meanwhile.
            guard !plan.withLock(\.isGivenUp) else { return }
            let outcome = WALCheckpoint.move(writer)
            plan.withLock { $0.onMoved(outcome) }
            record(outcome)
        }
    }

    /// Ends the thread and its connection; nothing is committed any more. On the writer's queue.
    ///
    /// - Returns: true if the rest of the log may be moved. If not, it has to stay for the next start.
    func close(_ writer: Database) -> Bool {
        length.leave(writer)
        thread?.finish()
        if !plan.withLock(\.isGivenUp) {
            // Before SQLite moves the rest at closing, since it does not know whether an earlier sync failed.
            let outcome = WALCheckpoint.move(writer)
            let isSynced = WALCheckpoint.sync(writer)
            plan.withLock { $0.onMoved(isSynced ? outcome : .unsynced) }
        }
        guard !plan.withLock(\.isGivenUp) else {
            // SQLite moves the log when the last connection is closed, so this one is never closed.
            _ = Unmanaged.passRetained(queue)
            return false
        }
        try? queue.close()
        return true
    }

    private func moveBeside() {
        let outcome = queue.inDatabase { database in
            let outcome = WALCheckpoint.move(database)
            return WALCheckpoint.sync(database) ? outcome : .unsynced
        }
        plan.withLock { $0.onMovedBeside(outcome) }
        record(outcome)
    }

    private func record(_ outcome: WALCheckpointPlan.Outcome) {
        if case .moved = outcome { movedAt.withLock { $0 = .now } }
    }
}

/// The log's length in pages, as of the last commit; only used on the writer's queue.
private final class LogLength {
    fileprivate(set) var pages = 0

    /// Replaces SQLite's own hook, which moves the log within a commit.
    func follow(_ writer: Database) {
        sqlite3_wal_hook(writer.sqliteConnection, recordLogLength, Unmanaged.passRetained(self).toOpaque())
    }

    func leave(_ writer: Database) {
        guard sqlite3_wal_hook(writer.sqliteConnection, nil, nil) != nil else { return }
        Unmanaged.passUnretained(self).release()
    }
}

/// The hook, at file scope so that it inherits no isolation.
private nonisolated func recordLogLength(
    _ length: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
    if let length { Unmanaged<LogLength>.fromOpaque(length).takeUnretainedValue().pages = Int(clamping: pages) }
    return SQLITE_OK
}

/// Moves the log into the database, with any connection.
enum WALCheckpoint {
    /// Moves as many pages as readers of the log allow. A disk error here does not fail a commit: the log's contents
    /// are durable.
    static func move(_ database: Database) -> WALCheckpointPlan.Outcome {
        do {
            let count = try database.checkpoint(.passive).checkpointedFrameCount
            return count < 0 ? .refused : .moved(count)
        } catch let error as DatabaseError where error.extendedResultCode.rawValue == syncFailure {
            return .unsynced
        } catch {
            return .refused
        }
    }

    /// Makes the moved pages durable; false when the disk failed.
    ///
    /// SQLite itself syncs only together with the log's last page. That page is left to the commit thread, which would
    /// have to wait for the whole sync.
    static func sync(_ database: Database) -> Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let sync = file.pointee.pMethods.pointee.xSync else { return true }
        return sync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK
    }

    /// The code SQLITE_IOERR_FSYNC, a macro that Swift does not import.
    private static let syncFailure = SQLITE_IOERR | (4 << 8)
}
