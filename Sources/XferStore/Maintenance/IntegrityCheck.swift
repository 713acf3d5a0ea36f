import GRDB

extension TaskStore {
    /// Checks the database on a connection of its own. Reads the whole file, nine seconds for a million tasks from a
    /// cold disk: call it on a thread of its own.
    ///
    /// - Parameter thoroughly: also compares indexes with tables (`integrity_check`), foreign keys, and the tables that
    ///   the store keeps by deltas; otherwise `quick_check`. No store may have the file open in this process: use
    ///   `check(thoroughly:)` then.
    /// - Throws: `damaged` with the findings; `newerDatabase`, `olderDatabase`, `foreignFile`, `cannotOpen`.
    public static func check(at path: String, thoroughly: Bool) throws(StoreError) {
        let kind = try DatabaseFile.inspect(path)
        if kind != .foreign { try DatabaseFile.refuseDamage(path) }
        switch kind {
        case .foreign: throw .foreignFile(path: path)
        case .blank where !DatabaseFile.hasLog(path): return
        case .blank: break
        case .ours(let version) where version > Migration.newest:
            throw .newerDatabase(path: path, found: version, known: Migration.newest)
        case .ours: break
        }
        try findNoDamage(at: path, thoroughly: thoroughly)
    }

    /// Checks this store while it is open, like `check(at:thoroughly:)`. It does not open the file itself: if any
    /// descriptor of the file is closed, the process loses all its locks on it (fcntl(2),
    /// https://sqlite.org/howtocorrupt.html), and another process could consider the log abandoned.
    public func check(thoroughly: Bool) throws(StoreError) { try Self.findNoDamage(at: path, thoroughly: thoroughly) }

    private static func findNoDamage(at path: String, thoroughly: Bool) throws(StoreError) {
        let findings: [String]
        do {
            findings = try IntegrityCheck.findings(at: path, thoroughly: thoroughly)
        } catch {
            switch StoreError(from: error) {
            case .sqlite(let code, let message):
                throw .cannotOpen(path: path, reason: "SQLite error \(code): \(message)")
            case let cause: throw cause
            }
        }
        if !findings.isEmpty { throw .damaged(findings) }
    }
}

enum IntegrityCheck {
    static func findings(at path: String, thoroughly: Bool) throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -2048") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        var findings: [String] = []
        do {
            findings = try queue.read { db in
                findings = try thoroughly ? reportByTable(db) : report(db, thoroughly: false)
                guard thoroughly, findings.isEmpty else { return findings }
                let schema = try schemaFaults(db, path: path)
                // The following queries fail on a wrong schema.
                guard schema.isEmpty else { return schema }
                return try rowFaults(db)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT && !findings.isEmpty {
            // The end of the transaction reports the damage that was found once more.
        }
        return findings
    }

    /// The faults of pages and rows.
    static func contentFaults(_ db: Database) throws -> [String] {
        let report = try report(db, thoroughly: true)
        return report.isEmpty ? try rowFaults(db) : report
    }

    /// A start migrates an older database to the present schema; a blank one has nothing to check.
    private static func rowFaults(_ db: Database) throws -> [String] {
        guard try Int.fetchOne(db, sql: "PRAGMA user_version") == Migration.newest else { return [] }
        let rows = try RowCheck.faults(db).prefix(most).map(\.description)
        return try rows + identity(db) + orphans(db) + differences(db)
    }

    /// The findings of SQLite's own check, with the names of the tables and indexes that they are about.
    ///
    /// A damage that ends the whole check is narrowed down: each table is checked alone then.
    private static func reportByTable(_ db: Database) throws -> [String] {
        let whole = try reportUnlessEnded { try report(db, thoroughly: true) }
        if let whole { return named(whole, db) }
        let tables = try String.fetchAll(
            db,
            sql: "SELECT CAST(name AS TEXT) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name > ''")
        let findings = try tables.flatMap { table in
            let quoted = table.replacing("'", with: "''")
            let lines = try reportUnlessEnded {
                try String.fetchAll(db, sql: "PRAGMA integrity_check('\(quoted)')").filter { $0 != "ok" }
            }
            return named(lines ?? [damage], db).map { "table \(table): \($0)" }
        }
        return findings.isEmpty ? [damage] : Array(findings.prefix(most))
    }

    /// SQLite's text in place of findings if a damage ends a check: a row of the check, or its error (SQLITE_CORRUPT).
    private static let damage = "database disk image is malformed"

    /// The findings of a check; nil if a damage has ended it.
    private static func reportUnlessEnded(_ check: () throws -> [String]) throws -> [String]? {
        do {
            let findings = try check()
            return findings.contains(damage) ? nil : findings
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return nil
        }
    }

    /// Adds the table or index to the findings that name its root page.
    private static func named(_ findings: [String], _ db: Database) -> [String] {
        let sql = "SELECT CAST(rootpage AS INTEGER), CAST(name AS TEXT) FROM sqlite_schema WHERE rootpage > 0"
        let objects = ((try? Row.fetchAll(db, sql: sql)) ?? []).compactMap { row -> (Int64, String)? in
            guard let page = row[0] as Int64?, let name = row[1] as String? else { return nil }
            return (page, name)
        }
        let names = Dictionary(objects) { first, _ in first }
        return findings.map { line in
            for mark in ["Tree ", "On tree page "] where line.hasPrefix(mark) {
                let digits = line.dropFirst(mark.count).prefix { $0.isNumber }
                if let page = Int64(digits, radix: 10), let name = names[page] { return "\(name): \(line)" }
            }
            return line
        }
    }

    /// The findings of SQLite's own check.
    private static func report(_ db: Database, thoroughly: Bool) throws -> [String] {
        let check = thoroughly ? "integrity_check" : "quick_check"
        return try String.fetchAll(db, sql: "PRAGMA \(check)(\(most))").filter { $0 != "ok" }
    }

    /// The highest number of findings of one kind.
    private static let most = 100

    /// Objects of this version that are missing, or not as the migrations make them. Others may be there, for example
    /// an operator's index.
    static func lostObjects(_ db: Database, version: Int) throws -> [String] {
        guard let reference = try ReferenceSchema.all().first(where: { $0.version == version }) else { return [] }
        return Array(reference.losses(in: try ReferenceSchema.objects(of: db)).prefix(most))
    }

    /// Tables and indexes that have one root page together.
    static func sharedRoots(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT group_concat(name, ' and ') FROM sqlite_schema WHERE rootpage > 0
                GROUP BY rootpage HAVING count(*) > 1 LIMIT \(most)
                """
        ).map { "\($0) have the same root page" }
    }

    /// Differences from the schema that this program's migrations make, for a database of any version. A blank one has
    /// none.
    private static func schemaFaults(_ db: Database, path: String) throws -> [String] {
        let found = try ReferenceSchema.objects(of: db)
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        if found.isEmpty, version == 0 { return [] }
        if version == (try? Int.fetchOne(db, sql: "SELECT max(number) FROM migration")) {
            try DatabaseExamination.refuseOlder(version: version, path: path)
        }
        guard let reference = try ReferenceSchema.all().first(where: { $0.version == version }) else {
            return ["the schema has number \(version), which this program does not know"]
        }
        return Array(reference.differences(from: found).prefix(most))
    }

    /// Checks the values that every start reads first.
    private static func identity(_ db: Database) throws -> [String] {
        let isThere = try Bool.fetchOne(
            db, sql: "SELECT count(*) = 1 AND max(length(id)) > 0 AND count(digest_key) = 1 FROM store")
        return isThere == true ? [] : ["the table store has no readable row"]
    }

    private static func orphans(_ db: Database) throws -> [String] {
        let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").prefix(most).map { row in
            "a row of \(row[0] as String) refers to a missing row of \(row[2] as String)"
        }
        // A task's transfer is no foreign key: see schema-20.sql.
        let astray = try Int64.fetchAll(
            db,
            sql: """
                SELECT id FROM task WHERE transfer_id IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM transfer WHERE transfer.id = task.transfer_id) LIMIT 100
                """)
        // Nor are what depends on a task: see Migration.cheapRemovals.
        let abandoned = try TaskDependents.tables.flatMap { table in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT task_id FROM \(table)
                    WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.id = \(table).task_id) LIMIT 100
                    """
            ).map { "a row of \(table) refers to the missing task \($0)" }
        }
        return orphans + astray.map { "task \($0) refers to a missing row of transfer" } + abandoned.prefix(most)
    }

    /// Compares the tables that are kept by deltas or triggers with the rows they count.
    private static func differences(_ db: Database) throws -> [String] {
        let queues = try mismatches(
            "SELECT priority, group_id, profile, host, queued FROM host_queue",
            """
            SELECT priority, group_id, coalesce(profile, ''), host, count(*) FROM task
            WHERE state = 'queued' GROUP BY 1, 2, 3, 4
            """, db)
        let fronts = try mismatches(
            "SELECT priority, group_id, profile, held, turn, only_host FROM group_queue", DerivedTables.fronts, db)
        let onlyHosts = try mismatches(
            "SELECT priority, host, turn FROM only_host_queue", DerivedTables.onlyHosts, db)
        let batches = try mismatches(
            "SELECT batch_id, state, count FROM batch_count", DerivedTables.batches, db)
        let groups = try mismatches(
            "SELECT id, group_id FROM task",
            """
            SELECT id, coalesce((SELECT id FROM queue_group g WHERE g.owner = task.owner AND g.name = group_name), 0)
            FROM task
            """, db)
        let counts = try mismatches(
            "SELECT owner, group_name, state, count FROM task_count WHERE count <> 0", DerivedTables.counts, db)
        let stored = try mismatches(
            "SELECT owner, bytes FROM owner_bytes WHERE bytes <> 0",
            "SELECT owner, sum(bytes) FROM task_bytes GROUP BY owner HAVING sum(bytes) <> 0", db)
        let waiting = try mismatches(
            "SELECT owner, bytes FROM owner_deliveries WHERE bytes <> 0", DerivedTables.waitingDeliveries, db)
        let found = [
            ("host_queue", "the tasks", queues), ("group_queue", "the tasks", fronts),
            ("only_host_queue", "the tasks", onlyHosts), ("task_count", "the tasks", counts),
            ("batch_count", "the tasks", batches), ("queue_group", "the tasks", groups),
            ("owner_bytes", "task_bytes", stored), ("owner_deliveries", "webhook_delivery", waiting),
        ]
        return found.compactMap { table, rows, count in
            count == 0 ? nil : "\(table) differs from \(rows) in \(count) rows"
        }
    }

    /// The number of rows that only one of two queries has.
    private static func mismatches(_ kept: String, _ found: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                WITH kept AS (\(kept)), found AS (\(found))
                SELECT count(*) FROM (
                    SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM found)
                    UNION ALL SELECT * FROM (SELECT * FROM found EXCEPT SELECT * FROM kept))
                """) ?? 0
    }
}

/// The tables that are kept by deltas, computed from the tasks.
enum DerivedTables {
    /// Rows of `task_count`.
    static let counts = """
        SELECT -1 AS owner, '' AS group_name, state, count(*) AS count FROM task GROUP BY state
        UNION ALL SELECT owner, '', state, count(*) FROM task GROUP BY owner, state
        UNION ALL SELECT -1, group_name, state, count(*) FROM task WHERE group_name <> '' GROUP BY group_name, state
        UNION ALL SELECT owner, group_name, state, count(*) FROM task WHERE group_name <> ''
            GROUP BY owner, group_name, state
        """

    /// Rows of `group_queue`, from `host_queue`.
    static let fronts = """
        SELECT priority, group_id, profile,
            EXISTS (SELECT 1 FROM queue_group WHERE id = group_id AND paused = 1) AS held,
            min(turn) FILTER (WHERE cooling = 0) AS turn, CASE count(*) WHEN 1 THEN min(host) ELSE '' END AS only_host
        FROM host_queue GROUP BY priority, group_id, profile
        """

    /// Rows of `only_host_queue`, from `group_queue`.
    static let onlyHosts = """
        SELECT priority, only_host, min(turn) FROM group_queue
        WHERE held = 0 AND only_host <> '' AND turn IS NOT NULL GROUP BY priority, only_host
        """

    /// Rows of `batch_count`.
    static let batches = """
        SELECT batch_id, state, count(*) AS count FROM task WHERE batch_id IS NOT NULL GROUP BY batch_id, state
        """

    /// Rows of `owner_deliveries`, from the deliveries that wait.
    static let waitingDeliveries = """
        SELECT owner, sum(length(CAST(body AS BLOB)) + 256) FROM webhook_delivery
        WHERE owner IS NOT NULL AND next_try_at IS NOT NULL GROUP BY owner
        """

    static func rebuild(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO queue_group (owner, name)
                    SELECT DISTINCT owner, group_name FROM task WHERE group_name IS NOT NULL;
                UPDATE task SET group_id = coalesce(
                    (SELECT id FROM queue_group WHERE owner = task.owner AND name = task.group_name), 0);
                UPDATE task SET batch_id = NULL WHERE batch_id NOT IN (SELECT id FROM batch);
                DELETE FROM batch_count;
                INSERT INTO batch_count (batch_id, state, count) \(batches);
                DELETE FROM task_count;
                INSERT INTO task_count (owner, group_name, state, count) \(counts);
                DELETE FROM host_queue;
                INSERT INTO host_queue (priority, group_id, profile, host, queued, turn, cooling)
                    SELECT priority, group_id, coalesce(profile, ''), host, count(*),
                        row_number() OVER (ORDER BY min(id)),
                        EXISTS (SELECT 1 FROM host_cooldown WHERE host = task.host)
                    FROM task WHERE state = 'queued' GROUP BY priority, group_id, profile, host;
                DELETE FROM group_queue;
                INSERT INTO group_queue (priority, group_id, profile, held, turn, only_host) \(fronts);
                DELETE FROM only_host_queue;
                INSERT INTO only_host_queue (priority, host, turn) \(onlyHosts);
                DELETE FROM rotation;
                INSERT INTO rotation (priority, last) SELECT priority, max(turn) FROM host_queue GROUP BY priority;
                """)
    }
}
