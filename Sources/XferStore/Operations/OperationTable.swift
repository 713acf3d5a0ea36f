public import XferModel

/// Background operations.
public struct OperationTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The operation; nil if there is none, or if it was removed.
    public func find(_ id: OperationID) throws(StoreError) -> BulkOperation? {
        try connection.all(
            composed: "SELECT \(BulkOperation.columns) FROM operation WHERE id = ?1", [.integer(id.rawValue)]
        ) { row throws(StoreError) in try BulkOperation(row) }.first
    }

    /// The oldest operation of this owner that has not ended and whose row is readable.
    public func next(of owner: Owner) throws(StoreError) -> BulkOperation? {
        try connection.all(
            composed: """
                SELECT \(BulkOperation.columns) FROM operation INDEXED BY operation_running
                WHERE owner = ?1 AND ended_at IS NULL ORDER BY id
                """, [Value(owner)]
        ) { row throws(StoreError) -> BulkOperation? in try BulkOperation.ifReadable(row) }.compactMap { $0 }.first
    }

    /// The users with operations that have not ended.
    public func ownersOfRunning() throws(StoreError) -> [Owner] {
        try connection.all(
            "SELECT DISTINCT owner FROM operation INDEXED BY operation_running WHERE ended_at IS NULL"
        ) { Owner(uid: UInt32(truncatingIfNeeded: $0.integer(0))) }
    }

    /// Counts the operations of this owner that have not ended.
    public func runningCount(of owner: Owner) throws(StoreError) -> Int {
        try connection.first(
            """
            SELECT count(*) FROM operation INDEXED BY operation_running WHERE owner = ?1 AND ended_at IS NULL
            """, Value(owner)
        ) { Int(clamping: $0.integer(0)) } ?? 0
    }

    /// One page of operations, the newest first. The cursor is opaque, and bound to the owner.
    ///
    /// - Parameter owner: nil means all owners.
    public func list(
        of owner: Owner?, limit: Int, cursor: String?
    ) throws(StoreError) -> (operations: [BulkOperation], cursors: [String], nextCursor: String?) {
        let words = ["operation", owner?.description ?? "all"]
        var last = Int64.max
        if let cursor { last = try ListCursor(cursor, of: words).last }
        // One more than requested, to know whether there is another page. The table is bounded.
        var found = try connection.all(
            composed: """
                SELECT \(BulkOperation.columns) FROM operation WHERE (?1 IS NULL OR owner = ?1) AND id < ?2
                ORDER BY id DESC LIMIT ?3
                """, [Value(owner), .integer(last), Value(limit.addingSaturated(1))]
        ) { row throws(StoreError) -> (id: Int64, operation: BulkOperation?) in
            (id: row.integer(0), operation: try BulkOperation.ifReadable(row))
        }
        let isLast = found.count <= limit
        found.removeSubrange(min(limit, found.count)...)
        func text(_ id: Int64) -> String { ListCursor(last: id, of: words).text }
        let operations = found.compactMap(\.operation)
        return (operations, operations.map { text($0.id.rawValue) }, isLast ? nil : found.last.map { text($0.id) })
    }
}

extension OperationTable where Store == StoreTransaction {
    /// Inserts the operation. Returns it with its id.
    public func insert(_ operation: BulkOperation) throws(StoreError) -> BulkOperation {
        try connection.run(
            """
            INSERT INTO operation
                (owner, is_operator, verb, deletes_files, filter, last_task, reached_task, state, created_at, changes,
                rights)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """, Value(operation.owner), Value(operation.isOperator), Value(operation.verb),
            Value(operation.deletesFiles), .text(operation.filter), Value(operation.last), Value(operation.reached),
            Value(operation.state), Value(operation.createdAt), Value(operation.changes),
            Value(try operation.rights.map { rights throws(StoreError) in try JSONText.encode(rights) }))
        var inserted = operation
        inserted.id = OperationID(connection.lastInsertedID)
        return inserted
    }

    /// Writes the operation's progress and its state.
    public func update(_ operation: BulkOperation) throws(StoreError) {
        let counts = operation.counts
        try connection.run(
            """
            UPDATE operation SET reached_task = ?2, changed = ?3, unchanged = ?4, refused = ?5, files_deleted = ?6,
                files_kept = ?7, report = ?8, state = ?9, error = ?10, ended_at = ?11,
                reported_at = ?12
            WHERE id = ?1
            """, .integer(operation.id.rawValue), Value(operation.reached), .integer(counts.changed),
            .integer(counts.unchanged), .integer(counts.refused), .integer(counts.filesDeleted),
            .integer(counts.filesKept),
            Value(operation.report.isEmpty ? nil : try JSONText.encode(operation.report)), Value(operation.state),
            Value(operation.error), Value(operation.endedAt), Value(operation.reportedAt))
    }

    /// Forgets the ended operations of this owner but the newest `count`.
    public func trim(of owner: Owner, keeping count: Int) throws(StoreError) {
        try connection.run(
            """
            DELETE FROM operation WHERE id IN (
                SELECT id FROM operation WHERE owner = ?1 AND ended_at IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?2)
            """, Value(owner), Value(count))
    }

    /// Forgets at most `step` operations that ended before this time; returns their number.
    public func trim(endedBefore time: Timestamp, step: Int = 500) throws(StoreError) -> Int {
        try connection.run(
            """
            DELETE FROM operation WHERE id IN (
                SELECT id FROM operation INDEXED BY operation_ended
                WHERE ended_at IS NOT NULL AND ended_at < ?1 LIMIT ?2)
            """, Value(time), Value(step))
        return connection.changeCount
    }
}

extension BulkOperation {
    static let columns = """
        id, owner, is_operator, verb, deletes_files, filter, last_task, reached_task, changed, unchanged, refused, \
        files_deleted, files_kept, report, state, error, created_at, ended_at, reported_at, changes, rights
        """

    /// Reads a row; nil if it has a value that this program does not know, so that it does not stop other operations.
    fileprivate static func ifReadable(_ row: ResultRow) throws(StoreError) -> BulkOperation? {
        do throws(StoreError) {
            return try BulkOperation(row)
        } catch {
            guard case .unreadable = error else { throw error }
            return nil
        }
    }

    /// Reads a row of `columns`.
    init(_ row: ResultRow) throws(StoreError) {
        let id = row.integer(0)
        var report = OperationReport()
        if let text = row.optionalText(13) {
            guard let stored = JSONText.decode(OperationReport.self, from: text) else {
                throw .unreadable(table: "operation", id: id, column: "report")
            }
            report = stored
        }
        var rights: OperationRights?
        if let text = row.optionalText(20) {
            rights = JSONText.decode(OperationRights.self, from: text)
            if rights == nil { throw .unreadable(table: "operation", id: id, column: "rights") }
        }
        var counts = OperationCounts()
        counts.changed = row.amount(8)
        counts.unchanged = row.amount(9)
        counts.refused = row.amount(10)
        counts.filesDeleted = row.amount(11)
        counts.filesKept = row.amount(12)
        self.init(
            id: OperationID(id), owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(1))),
            isOperator: row.flag(2),
            verb: try row.word(OperationVerb.self, 3, table: "operation", id: id, name: "verb"),
            deletesFiles: row.flag(4), filter: row.text(5), changes: row.optionalText(19), rights: rights,
            last: TaskID(row.integer(6)), reached: TaskID(row.integer(7)), counts: counts, report: report,
            state: try row.word(OperationState.self, 14, table: "operation", id: id, name: "state"),
            error: row.optionalText(15), createdAt: row.time(16),
            reportedAt: row.optionalTime(18), endedAt: row.optionalTime(17))
    }
}
