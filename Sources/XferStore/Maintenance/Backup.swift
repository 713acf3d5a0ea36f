import GRDB
import Glibc

extension TaskStore {
    /// Writes a consistent copy of the database into a new file with mode 0600, with everything that was committed
    /// before the call (SQLite's online backup). Commits continue meanwhile; the log grows until the copy is done.
    /// Blocks.
    ///
    /// - Parameter copy: a path in a directory that no other user can write to. A file of that name is replaced.
    /// - Returns: the newest event's sequence number in the copy.
    /// - Throws: `StoreError`; then no file is left.
    public func backUp(to copy: String) throws(StoreError) -> Int64 {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(copy + suffix) }
        try DatabaseFile.make(copy)
        do {
            var configuration = Configuration()
            configuration.label = "xfer.store.backup"
            // The copy is worthless until it is whole, and then it is synced once.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF") }
            let target = try DatabaseQueue(path: copy, configuration: configuration)
            try pool.backup(to: target)
            let seq = try target.inDatabase { db in
                try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
            }
            try target.close()
            return seq
        } catch {
            unlink(copy)
            throw StoreError(from: error)
        }
    }
}
