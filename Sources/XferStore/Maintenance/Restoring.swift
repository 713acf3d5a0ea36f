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
    /// all of its sequences continue far beyond those of the backup and of the database that is replaced. Tokens are
    /// revoked: one that was revoked after the backup would be valid again.
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
            var report = try Restoring.renew(copy, beyond: Restoring.sequences(of: path), at: now)
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

private enum Restoring {
    /// The count of numbers that are left out after the highest known one, because clients may have seen them.
    static let gap: Int64 = 1_000_000_000

    /// The last numbers of the database's sequences, by table; empty if there is no readable database.
    static func sequences(of path: String) -> [String: Int64] {
        guard access(path, F_OK) == 0 else { return [:] }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // The file is set aside as it is.
            if !db.configuration.readonly { xfer_sqlite_keep_log_at_close(db.sqliteConnection, 1) }
        }
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return [:] }
        defer { try? queue.close() }
        return (try? queue.inDatabase { try sequences($0) }) ?? [:]
    }

    private static func sequences(_ db: Database) throws -> [String: Int64] {
        let rows = try Row.fetchAll(db, sql: "SELECT name, max(seq) AS seq FROM sqlite_sequence GROUP BY name")
        return rows.reduce(into: [:]) { found, row in
            let (name, last): (String?, Int64?) = (row["name"], row["seq"])
            if let name, let last { found[name] = last }
        }
    }

    /// Gives the database a new identity, on a connection of its own.
    static func renew(
        _ path: String, beyond others: [String: Int64], at now: Timestamp
    ) throws(StoreError) -> RestoreReport {
        var report = RestoreReport()
        do {
            let queue = try DatabaseQueue(path: path)
            try queue.inTransaction(.immediate) { db in
                try db.execute(sql: "UPDATE store SET id = lower(hex(randomblob(16)))")
                let own = try sequences(db)
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
                for table in tables {
                    let last = max(0, own[table] ?? 0, others[table] ?? 0)
                    let next = last.addingSaturated(gap)
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
