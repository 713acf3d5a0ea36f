import GRDB
import Glibc
public import XferModel

extension TaskStore {
    /// Sets the database, with its -wal and -shm, aside under a new name and puts a new one in its place with every row
    /// that could be read. Nothing is deleted. The database must not be open.
    ///
    /// The new one is finished beside the old one first; the file under `path` is then exchanged in one step, so a crash
    /// leaves either. It has another `storeID`.
    /// - Throws: `newerDatabase` and `foreignFile` only for what is undamaged; `cannotOpen`.
    public static func recover(at path: String, now: Timestamp) throws(StoreError) -> RecoveryReport {
        if case .ours(let version) = try DatabaseFile.inspect(path), version > Migration.all.count {
            throw .newerDatabase(path: path, found: version, known: Migration.all.count)
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

/// What `recover` did.
public struct RecoveryReport: Hashable, Sendable {
    /// Where the damaged file lies now; -wal and -shm beside it under the same name.
    public var setAside: String
    /// Rows salvaged, by table.
    public var salvaged: [String: Int] = [:]
    /// What could not be read, a line each.
    public var losses: [String] = []
}

enum Recovery {
    /// Tables that hold what was asked for and what became of it, parents first, each with its row id. What is kept by
    /// differences is computed anew, which URLs failed and what the cache
    /// holds is forgotten: the new database tells them apart by another key.
    private static let rowIDs = [
        "transfer": "id", "task": "id", "event": "seq", "policy": "version", "request_body": "task_id",
        "task_result": "task_id", "upload": "transfer_id", "ready_file": "task_id",
        "published_file": "task_id", "transfer_version": "transfer_id", "pending_hook": "id", "queue_group": "id",
        "batch": "id", "task_crash": "task_id",
    ]
    private static let tables = [
        "setting", "policy", "host_cooldown", "profile", "queue_group", "batch", "cookie", "transfer", "segment",
        "upload", "task", "request_body", "task_result", "spooled_source", "reservation", "ready_file",
        "published_file", "transfer_version", "pending_hook", "calendar", "dependency", "ended_target", "task_crash",
        "event",
    ]

    // MARK: Rows

    static func salvage(from path: String, into work: String, _ report: inout RecoveryReport) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let target = try DatabaseQueue(path: work, configuration: configuration)
        configuration.readonly = true
        // Also what only the log holds; fails when nothing of the file can be read.
        let source = try? DatabaseQueue(path: path, configuration: configuration)
        if source == nil { report.losses.append("the file cannot be read at all") }
        let hadLog = DatabaseFile.hasLog(path)
        defer {
            try? source?.close()
            // Reading made them.
            if !hadLog { for suffix in ["-wal", "-shm"] { unlink(path + suffix) } }
        }
        var found = report
        try target.inTransaction { db in
            for table in tables {
                try source?.inDatabase { try copy(table, from: $0, into: db, &found) }
            }
            try mend(db)
            return .commit
        }
        report = found
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try target.close()
    }

    private static func copy(
        _ table: String, from source: Database, into target: Database, _ report: inout RecoveryReport
    ) throws {
        let known = try storedColumns(of: table, in: target)
        let columns = ((try? storedColumns(of: table, in: source)) ?? []).filter(known.contains)
        guard !columns.isEmpty else { return report.losses.append("\(table): not found") }
        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.makeStatement(
            sql: "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(places))")
        var count = 0
        func take(_ row: Row) {
            // A value of another type than the column's comes from damage: the row is left out.
            guard (try? insert.execute(arguments: StatementArguments(row.map(\.1)))) != nil else { return }
            count += target.changesCount
        }
        if let key = rowIDs[table] {
            try copyAroundDamage("SELECT \(names) FROM \(table)", key, columns, source, take, table, &report)
        } else {
            do {
                let rows = try Row.fetchCursor(source, sql: "SELECT \(names) FROM \(table)")
                while let row = try rows.next() { take(row) }
            } catch {
                report.losses.append("\(table): \(StoreError(from: error).description)")
            }
        }
        report.salvaged[table] = count
    }

    /// Reads upwards to the damage, leaps over it in growing steps, and goes on.
    private static func copyAroundDamage(
        _ select: String, _ key: String, _ columns: [String], _ source: Database, _ take: (Row) -> Void,
        _ table: String, _ report: inout RecoveryReport
    ) throws {
        let position = columns.firstIndex(of: key) ?? 0
        let top = highestID(table, key, source)
        var next: Int64 = 1
        var leap: Int64 = 1
        var firstError: String?
        while next <= top {
            do {
                let rows = try Row.fetchCursor(
                    source, sql: "\(select) WHERE \(key) >= ? ORDER BY \(key)", arguments: [next])
                while let row = try rows.next() {
                    take(row)
                    next = (row[position] as Int64) + 1
                    leap = 1
                }
                break
            } catch {
                firstError = firstError ?? StoreError(from: error).description
                next += leap
                leap = min(leap * 2, 1 << 20)
            }
        }
        if let firstError { report.losses.append("\(table): \(firstError)") }
    }

    private static func highestID(_ table: String, _ key: String, _ source: Database) -> Int64 {
        let counted = try? Int64.fetchOne(
            source, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
        let last = try? Int64.fetchOne(source, sql: "SELECT max(\(key)) FROM \(table)")
        // Neither can be read: as far as anybody got in practice.
        return max(counted ?? 0, last ?? 0, counted == nil && last == nil ? 1 << 24 : 0)
    }

    /// Without generated columns.
    private static func storedColumns(of table: String, in db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
    }

    /// Makes the salvaged rows fit each other again.
    private static func mend(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE task SET transfer_id = NULL WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM segment WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM upload WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM reservation WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM request_body WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM task_result WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM spooled_source WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM published_file WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM ready_file WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM transfer_version WHERE transfer_id NOT IN (SELECT id FROM transfer);
                DELETE FROM calendar WHERE task_id NOT IN (SELECT id FROM task);
                DELETE FROM dependency WHERE task_id NOT IN (SELECT id FROM task);
                """)
        try DerivedTables.rebuild(db)
    }

    // MARK: Files

    static func freeName(_ path: String, _ now: Timestamp) throws(StoreError) -> String {
        let stamp = now.description.filter { $0 != ":" }
        for number in 1...1000 {
            let name = number == 1 ? "\(path).damaged-\(stamp)" : "\(path).damaged-\(stamp)-\(number)"
            if access(name, F_OK) != 0 { return name }
        }
        throw .cannotOpen(path: path, reason: "no free name to set it aside")
    }

    /// Gives the old files a second name: there is never a moment without a database.
    static func setAside(_ path: String, as name: String) throws(StoreError) {
        for suffix in ["-wal", "-shm", ""] where access(path + suffix, F_OK) == 0 {
            guard link(path + suffix, name + suffix) == 0 else { throw DatabaseFile.failure(name + suffix) }
        }
        try DatabaseFile.syncDirectory(of: path)
    }

    /// Puts the new database in place of the old one, whose log must not be taken for the new one's.
    static func exchange(_ path: String, for work: String) throws(StoreError) {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(work, path) == 0 else { throw DatabaseFile.failure(path) }
        for suffix in ["-wal", "-shm"] { unlink(work + suffix) }
        try DatabaseFile.syncDirectory(of: path)
    }
}
