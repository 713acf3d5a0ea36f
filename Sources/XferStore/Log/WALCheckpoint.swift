import GRDB
import GRDBSQLite

/// Moves the log into the database, with any connection.
enum WALCheckpoint {
    /// Moves as many pages as readers of the log allow. A disk error here does not fail a commit: what is in the log is
    /// durable.
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

    /// Makes durable what was moved; false when the disk failed.
    ///
    /// SQLite itself syncs only together with the log's last page. That page is left to the commit thread, which would
    /// have to wait for the whole sync.
    static func sync(_ database: Database) -> Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let sync = file.pointee.pMethods.pointee.xSync else { return true }
        return sync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK
    }

    /// SQLITE_IOERR_FSYNC, a macro Swift does not import.
    private static let syncFailure = SQLITE_IOERR | (4 << 8)
}
