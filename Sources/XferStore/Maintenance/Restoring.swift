import CSQLite
import GRDB
import Glibc
public import XferModel

/// The result of `TaskStore.restore`.
public struct RestoreReport: Hashable, Sendable {
    /// The path of the database that was replaced, or nil if there was none; -wal and -shm are beside it under the same
    /// name.
    public var setAside: String?
    /// The restored database's id.
    public var storeID = ""
    /// The highest sequence number before the restore.
    public var seq: Int64 = 0
    /// The number of tokens of clients on the network that were revoked.
    public var revokedTokens = 0
    public var taskCount = 0
}

extension TaskStore {
    /// The setting that a restore leaves for the next start: the time of the restore.
    public static let restoredSetting = "restored_at"

    /// Replaces the database by a backup. Nothing is deleted: the present database is set aside. It must not be open.
    ///
    /// Clients may know ids and sequence numbers that were assigned after the backup. So the store gets a new id, and
    /// all of its sequences continue beyond those of the backup and of the database that is replaced: see
    /// `RestoredNumbers`. Tokens are revoked: one that was revoked after the backup would be valid again.
    ///
    /// If the replaced database is not the one of the backup, this may be another machine: the identities of
    /// directories and partial files there are invalid here. Directories are admitted again, and partial files are
    /// recognised by length and modification time, which a copy has, too.
    ///
    /// - Parameter copy: the backup, already in the directory of `path`. It becomes the database; after an error it is
    ///   removed.
    /// - Throws: `foreignFile`, `newerDatabase`, `damaged`, `cannotOpen`; then the present database is unchanged.
    public static func restore(_ copy: String, at path: String, now: Timestamp) throws(StoreError) -> RestoreReport {
        do throws(StoreError) {
            try check(at: copy, thoroughly: true)
            guard case .ours = try DatabaseFile.inspect(copy) else { throw .foreignFile(path: copy) }
            // Migrates a backup of an older version.
            try TaskStore.open(StoreConfiguration(path: copy)).close()
            var report = try Restoring.renew(copy, beyond: Restoring.replaced(at: path), at: now)
            if access(path, F_OK) == 0 {
                let name = try Recovery.freeName(path, now, word: "replaced")
                try Recovery.setAside(path, as: name)
                report.setAside = name
            }
            try Recovery.exchange(path, for: copy)
            return report
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(copy + suffix) }
            throw error
        }
    }
}

/// Rules for the numbers at which a restored database continues, so that no number that a client may know gets a second
/// meaning.
enum RestoredNumbers {
    /// The number of ids that are skipped in a table whose ids users do not read.
    static let gap: Int64 = 1_000_000_000
    /// The number of ids that are skipped if the last id is known from the replaced database.
    static let leastGap: Int64 = 1000
    /// The tables whose ids users read and type, so that the ids should have few digits.
    private static let shown: Set<String> = ["task", "batch"]

    /// The number after which a table continues.
    ///
    /// The replaced database contains the ids that were given after the backup. Without it, or if it is another one,
    /// the bound is a guess: as many ids again as were given before the backup, and at least 100,000. A client that
    /// knows a later one sees that the store's id has changed.
    ///
    /// - Parameters:
    ///   - own: the table's last number in the backup.
    ///   - replaced: its last number in the replaced database; nil if there is none.
    ///   - isSameStore: true if the backup is one of the replaced database.
    static func last(in table: String, own: Int64, replaced: Int64?, isSameStore: Bool) -> Int64 {
        let known = max(0, own, replaced ?? 0)
        guard shown.contains(table) else { return known.addingSaturated(gap) }
        let isKnown = isSameStore && replaced.map { $0 >= own } ?? false
        return known.addingSaturated(isKnown ? leastGap : min(gap, max(100 * leastGap, known)))
    }
}

private enum Restoring {
    /// The known facts about the database that is replaced.
    struct Replaced {
        /// The store's id; nil if it cannot be read.
        var storeID: String?
        /// The last numbers of the sequences, by table.
        var sequences: [String: Int64] = [:]
    }

    /// Reads the facts about the database at a path; nil if there is none that can be read.
    static func replaced(at path: String) -> Replaced {
        guard access(path, F_OK) == 0 else { return Replaced() }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // The file is set aside as it is.
            if !db.configuration.readonly { xfer_sqlite_keep_log_at_close(db.sqliteConnection, 1) }
        }
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return Replaced() }
        defer { try? queue.close() }
        return
            (try? queue.inDatabase { db in
                Replaced(
                    storeID: try String.fetchOne(db, sql: "SELECT id FROM store"), sequences: try sequences(db))
            }) ?? Replaced()
    }

    private static func sequences(_ db: Database) throws -> [String: Int64] {
        let rows = try Row.fetchAll(db, sql: "SELECT name, max(seq) AS seq FROM sqlite_sequence GROUP BY name")
        return rows.reduce(into: [:]) { found, row in
            let (name, last): (String?, Int64?) = (row["name"], row["seq"])
            if let name, let last { found[name] = last }
        }
    }

    /// Removes the numbers of devices and inodes of directories and partial files.
    private static func forgetIdentities(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE task SET directory_device = NULL, directory_inode = NULL WHERE directory_inode IS NOT NULL;
                UPDATE transfer SET device = 0, inode = 0;
                UPDATE transfer SET part_device = 0, part_inode = 0, part_born_at = NULL, part_generation = NULL
                    WHERE part_inode IS NOT NULL;
                """)
    }

    /// Gives the database a new identity, on a connection of its own.
    static func renew(
        _ path: String, beyond replaced: Replaced, at now: Timestamp
    ) throws(StoreError) -> RestoreReport {
        var report = RestoreReport()
        do {
            let queue = try DatabaseQueue(path: path)
            try queue.inTransaction(.immediate) { db in
                let formerID = try String.fetchOne(db, sql: "SELECT id FROM store")
                try db.execute(sql: "UPDATE store SET id = lower(hex(randomblob(16)))")
                let isSameStore = formerID != nil && formerID == replaced.storeID
                if !isSameStore { try forgetIdentities(db) }
                let own = try sequences(db)
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
                for table in tables {
                    let next = RestoredNumbers.last(
                        in: table, own: own[table] ?? 0, replaced: replaced.sequences[table],
                        isSameStore: isSameStore)
                    try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [table])
                    try db.execute(
                        sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, next])
                    if table == "event" { report.seq = next }
                }
                report.revokedTokens = try Int.fetchOne(db, sql: "SELECT count(*) FROM token") ?? 0
                try db.execute(sql: "DELETE FROM token")
                try db.execute(
                    sql: """
                        INSERT INTO setting (key, value) VALUES (?1, ?2)
                        ON CONFLICT DO UPDATE SET value = excluded.value
                        """, arguments: [TaskStore.restoredSetting, now.description])
                report.storeID = try String.fetchOne(db, sql: "SELECT id FROM store") ?? ""
                report.taskCount = try Int.fetchOne(db, sql: "SELECT count(*) FROM task") ?? 0
                return .commit
            }
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try queue.close()
        } catch {
            throw StoreError(from: error)
        }
        return report
    }
}
