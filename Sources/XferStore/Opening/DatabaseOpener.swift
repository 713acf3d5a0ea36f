import CSQLite
import GRDB

/// Opens the pool: refuses files of other programs, migrates, and ensures that a COMMIT is on disk.
enum DatabaseOpener {
    struct Opened {
        let pool: DatabasePool
        let storeID: String
        let wasStoppedUncleanly: Bool
        let isNew: Bool
    }

    static func open(_ path: String) throws(StoreError) -> Opened {
        _ = countsNoMemory
        let inLog = try refuseOthers(path)
        let wasStoppedUncleanly = DatabaseFile.hasLog(path)
        try DatabaseFile.make(path)
        do {
            let pool = try DatabasePool(path: path, configuration: configuration(keepingLog: wasStoppedUncleanly))
            return try pool.writeWithoutTransaction { db in
                try insistOnFullSynchronous(db)
                let version = try migrate(db, path: path, inLog: inLog)
                try GatheredLog.begin(on: db)
                // It is sound: from now on the log is moved as usual.
                _ = xfer_sqlite_keep_log_at_close(db.sqliteConnection, 0)
                return Opened(
                    pool: pool, storeID: try readStoreID(db), wasStoppedUncleanly: wasStoppedUncleanly,
                    isNew: version == 0)
            }
        } catch {
            throw openingError(StoreError(from: error), path)
        }
    }

    /// The error with the file's path, if SQLite's error does not contain it.
    private static func openingError(_ cause: StoreError, _ path: String) -> StoreError {
        guard !cause.isDamage, case .sqlite(let code, let message) = cause else { return cause }
        return .cannotOpen(path: path, reason: "SQLite error \(code): \(message)")
    }

    /// See `TaskStore.rehearse`. It does not use the pool's writer: GRDB writes to the log when it opens a pool.
    static func rehearse(_ store: StoreConfiguration, _ body: (StoreTransaction) throws -> Void) throws {
        let path = store.path
        let inLog = try refuseOthers(path)
        // A database that was never closed has its schema in the log alone.
        if try DatabaseFile.inspect(path) == .blank, inLog == nil { return }
        let hasLog = DatabaseFile.hasLog(path)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration(keepingLog: hasLog))
            try queue.writeWithoutTransaction { db in
                let version = try DatabaseExamination(db, path: path, inLog: inLog).version
                guard version == Migration.newest else { return }
                let transaction = StoreTransaction(Connection(db), texts: store.texts)
                defer { transaction.end() }
                try transaction.begin()
                defer { transaction.rollBack() }
                _ = try readStoreID(db)
                try body(transaction)
                try transaction.settle()
            }
            try queue.close()
        } catch let error as DatabaseError {
            throw openingError(StoreError(from: error), path)
        } catch let error as StoreError {
            throw openingError(error, path)
        }
    }

    /// A further connection to an open database, to move its log with.
    static func openBeside(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "xfer.store.log"
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = -64")
            try insistOnFullSynchronous(db)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // SQLite opens the log when a connection reads for the first time; before that there is nothing to move.
        _ = try queue.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
        return queue
    }

    /// True if SQLite's memory statistics were switched off for the whole process. If another component has opened a
    /// connection before, SQLite continues to count, which is harmless.
    private static let countsNoMemory = xfer_sqlite_count_no_memory() == SQLITE_OK

    /// Pieces of memory that the writer reserves for short-lived use by statements. With SQLite's default of a hundred,
    /// a commit of many change-sets would call malloc(3) for nearly all.
    private static let (pieceSize, pieceCount): (Int32, Int32) = (1200, 512)

    /// Throws unless this program may open it. Nothing is written, also not by SQLite.
    ///
    /// - Returns: the schema version that results from the log; nil if the log does not contain one.
    @discardableResult
    static func refuseOthers(_ path: String) throws(StoreError) -> Int? {
        var newest = DatabaseFile.versionInLog(path) ?? 0
        switch try DatabaseFile.inspect(path) {
        case .blank: break
        case .foreign: throw .foreignFile(path: path)
        case .ours(let version): newest = max(newest, version)
        }
        guard newest <= Migration.newest else {
            throw .newerDatabase(path: path, found: newest, known: Migration.newest)
        }
        return try DatabaseFile.refuseDamage(path)
    }

    /// Returns a configuration with small caches and few readers: the operating system's cache contains the file
    /// anyway.
    ///
    /// - Parameter keepsLog: true if a connection that is closed leaves the log unchanged. Otherwise a start that finds
    ///   the database damaged would have moved the log into it, which a repair needs.
    private static func configuration(keepingLog keepsLog: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.label = "xfer.store"
        // Two for bulk reads, as many as the service runs at once, and one for short reads.
        configuration.maximumReaderCount = 3
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            if !db.configuration.readonly {
                // Before all that may fail.
                if keepsLog { _ = xfer_sqlite_keep_log_at_close(db.sqliteConnection, 1) }
                // SQLite refuses this while a statement is open; then the default stays.
                _ = xfer_sqlite_keep_memory(db.sqliteConnection, pieceSize, pieceCount)
            }
            // KiB. The writer's holds the upper pages of ten indexes over a million tasks.
            try db.execute(sql: "PRAGMA cache_size = \(db.configuration.readonly ? -1024 : -4096)")
            guard !db.configuration.readonly else { return }
            // Savepoint journals stay in memory: in a file, they were most of all that was written.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            // Debian's SQLite overwrites every deleted byte with zeros, and writes pages only for that.
            try db.execute(sql: "PRAGMA secure_delete = FAST")
            // For the migrations; afterwards WALCheckpointer moves the log.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
            try db.execute(sql: "PRAGMA journal_size_limit = 33554432")
        }
        return configuration
    }

    /// Sets `synchronous` to FULL. `DatabasePool` sets NORMAL after `prepareDatabase`: in WAL mode that syncs no
    /// commit.
    private static func insistOnFullSynchronous(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
        let found = try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1
        guard found == 2 else { throw StoreError.notDurable(synchronous: found) }
    }

    private static func readStoreID(_ db: Database) throws -> String {
        guard let id = try String.fetchOne(db, sql: "SELECT id FROM store") else {
            throw StoreError.damaged(["the table store has no row"])
        }
        return id
    }

    /// Runs the missing migrations, each in a transaction with its number; the last one seals the schema.
    /// Returns the number that the schema had before, 0 for a new database.
    private static func migrate(_ db: Database, path: String, inLog: Int?) throws -> Int {
        let examination = try DatabaseExamination(db, path: path, inLog: inLog)
        let version = examination.version
        if version == Migration.newest, !examination.isSealed { try SchemaSeal.renew(db) }
        for (number, migration) in Migration.missing(after: version) {
            try db.inTransaction(.immediate) {
                try db.execute(sql: migration.sql)
                try db.execute(
                    sql: "INSERT INTO migration (number, name) VALUES (?, ?)", arguments: [number, migration.name])
                try db.execute(sql: "PRAGMA application_id = \(Migration.applicationID)")
                try db.execute(sql: "PRAGMA user_version = \(number)")
                if number == Migration.newest { try SchemaSeal.renew(db) }
                return .commit
            }
        }
        return version
    }
}
