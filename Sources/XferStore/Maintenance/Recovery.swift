import FoundationEssentials
import GRDB
import Glibc
public import XferModel

extension TaskStore {
    /// Renames the database, with its -wal and -shm, and replaces it with a new one that has every readable row.
    /// Nothing is deleted. The database must not be open.
    ///
    /// The new database is completed next to the old one; then the file under `path` is replaced in one step, so after
    /// a crash one of them exists. The new one has another `storeID`.
    /// - Throws: `newerDatabase` and `foreignFile` only for an undamaged file; `cannotOpen`.
    public static func recover(at path: String, now: Timestamp) throws(StoreError) -> RecoveryReport {
        // A version that no program will reach is damage.
        if case .ours(let version) = try DatabaseFile.inspect(path), version > Migration.newest,
            version < Recovery.implausibleVersion
        {
            throw .newerDatabase(path: path, found: version, known: Migration.newest)
        }
        let work = path + ".recovering"
        for suffix in ["", "-wal", "-shm"] { unlink(work + suffix) }
        let fresh = try TaskStore.open(StoreConfiguration(path: work))
        try fresh.close()
        var report = RecoveryReport(setAside: try Recovery.freeName(path, now))
        try Recovery.setAside(path, as: report.setAside)
        do {
            try Recovery.salvage(from: report.setAside, into: work, &report)
        } catch {
            throw .cannotOpen(path: work, reason: StoreError(from: error).description)
        }
        try Recovery.exchange(path, for: work)
        return report
    }
}

/// The result of `recover`.
public struct RecoveryReport: Hashable, Sendable {
    /// Path of the damaged file; -wal and -shm are next to it under the same name.
    public var setAside: String
    /// Rows salvaged, by table.
    public var salvaged: [String: Int] = [:]
    /// The data that could not be read, a line each; it stays in the file that was set aside.
    public var losses: [String] = []
}

enum Recovery {
    /// Tables whose rows are salvaged, parents first, each with its row id. Tables kept by deltas are computed again.
    private static let rowIDs = [
        "transfer": "id", "task": "id", "event": "seq", "policy": "version", "request_body": "task_id",
        "task_result": "task_id", "upload": "transfer_id", "ready_file": "task_id",
        "published_file": "task_id", "brief_intent": "task_id", "transfer_version": "transfer_id", "pending_hook": "id",
        "queue_group": "id",
        "batch": "id", "transfer_source": "id", "abandoned_upload": "id", "task_crash": "task_id",
        "webhook_delivery": "id", "token": "id", "operation": "id", "failed_url": "id",
        "cache_entry": "id", "cache_source": "id",
    ]
    private static let tables = [
        "setting", "policy", "host_cooldown", "secure_host", "profile", "queue_group", "batch", "cookie", "transfer",
        "segment",
        "upload", "upload_part", "task", "task_bytes", "request_body", "task_result", "spooled_source", "reservation",
        "ready_file",
        "published_file", "brief_intent", "transfer_version", "pending_hook", "calendar", "dependency", "ended_target",
        "task_crash",
        "transfer_source", "abandoned_upload", "webhook_delivery", "webhook_state", "token",
        "operation", "event",
    ]
    /// The tables whose rows are found by digests with the key of the database, so that they are useless without it.
    private static let keyedTables = ["failed_url", "cache_entry", "cache_source"]
    /// The first schema number that indicates damage.
    static let implausibleVersion = 10_000

    // MARK: Rows

    static func salvage(from path: String, into work: String, _ report: inout RecoveryReport) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let target = try DatabaseQueue(path: work, configuration: configuration)
        if access(path, F_OK) != 0 { report.losses.append("the database file is missing") }
        if let fault = try LogInspection.fault(inLogOf: path) { report.losses.append(fault) }
        // Includes rows that only the log has.
        let source = SalvageSource(path, header: try firstPage(of: target, work), &report.losses)
        if source == nil { report.losses.append("the file cannot be read at all") }
        defer { source?.close() }
        var found = report
        try target.inTransaction { db in
            let hasKey = try source?.queue.inDatabase { try copyDigestKey(from: $0, into: db) } ?? false
            if !hasKey, source != nil {
                found.losses.append("store: the key of digests is unreadable: failed URLs and the cache are lost")
            }
            for table in tables + (hasKey ? keyedTables : []) {
                try source?.queue.inDatabase { try copy(table, from: $0, into: db, &found) }
            }
            if let missing = source?.queue.inDatabase({ uncounted(in: $0, found) }) { found.losses.append(missing) }
            try mend(db)
            found.losses += try RowCheck.removeUnreadable(db)
            try mend(db)
            try DerivedTables.rebuild(db)
            return .commit
        }
        report = found
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try target.close()
    }

    /// Copies the key of the damaged database to the new one; false if that cannot be read.
    private static func copyDigestKey(from source: Database, into target: Database) throws -> Bool {
        let statement = "SELECT digest_key FROM store WHERE typeof(digest_key) = 'blob' AND length(digest_key) = 32"
        guard let keys = try? Data.fetchAll(source, sql: statement), keys.count == 1 else { return false }
        try target.execute(sql: "UPDATE store SET digest_key = ?", arguments: [keys[0]])
        return true
    }

    private static func copy(
        _ table: String, from source: Database, into target: Database, _ report: inout RecoveryReport
    ) throws {
        guard var salvage = try RowSalvage(table, key: rowIDs[table], from: source, into: target) else {
            return report.losses.append("\(table): not found")
        }
        salvage.copy(rowID: rowIDs[table])
        report.losses += salvage.losses
        report.salvaged[table] = salvage.count
    }

    /// A line about tasks that the damaged database counts and that no other line reports as lost.
    private static func uncounted(in source: Database, _ report: RecoveryReport) -> String? {
        let counted = try? Int.fetchOne(
            source, sql: "SELECT total(count) FROM task_count WHERE owner = ? AND group_name = ? AND count > 0",
            arguments: [CountScope.allOwners, CountScope.allGroups])
        let salvaged = report.salvaged["task"] ?? 0
        guard let counted, salvaged < counted, !report.losses.contains(where: { $0.hasPrefix("task") }) else {
            return nil
        }
        return "task: \(counted) rows are counted, and \(salvaged) of them are found"
    }

    /// The first page of the new, intact database.
    private static func firstPage(of target: DatabaseQueue, _ work: String) throws -> [UInt8] {
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let descriptor = Glibc.open(work, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DatabaseFile.failure(work) }
        defer { Glibc.close(descriptor) }
        var page = [UInt8](repeating: 0, count: 4096)
        guard pread(descriptor, &page, page.count, 0) == page.count else { throw DatabaseFile.failure(work) }
        return page
    }

    /// Makes the salvaged rows consistent again.
    private static func mend(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE task SET transfer_id = NULL WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM segment WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM upload WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM upload_part WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM reservation WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM request_body WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM task_result WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM task_bytes WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM spooled_source WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM published_file WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM brief_intent WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM ready_file WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM transfer_version WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM calendar WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM dependency WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM transfer_source WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM cache_source WHERE entry_id NOT IN (SELECT id FROM cache_entry);
                """)
    }

    // MARK: Files

    static func freeName(
        _ path: String, _ now: Timestamp, word: String = "damaged"
    ) throws(StoreError) -> String {
        let stamp = now.description.filter { $0 != ":" }
        for number in 1...1000 {
            let name = number == 1 ? "\(path).\(word)-\(stamp)" : "\(path).\(word)-\(stamp)-\(number)"
            if access(name, F_OK) != 0 { return name }
        }
        throw .cannotOpen(path: path, reason: "no free name to set it aside")
    }

    /// Gives the old files a second name, so that a database exists at every moment.
    static func setAside(_ path: String, as name: String) throws(StoreError) {
        for suffix in ["-wal", "-shm", ""] where access(path + suffix, F_OK) == 0 {
            guard link(path + suffix, name + suffix) == 0 else { throw DatabaseFile.failure(name + suffix) }
        }
        try DatabaseFile.syncDirectory(of: path)
    }

    /// Replaces the old database with the new one. The old log must not be taken for the new database's.
    static func exchange(_ path: String, for work: String) throws(StoreError) {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(work, path) == 0 else { throw DatabaseFile.failure(path) }
        for suffix in ["-wal", "-shm"] { unlink(work + suffix) }
        try DatabaseFile.syncDirectory(of: path)
    }
}
