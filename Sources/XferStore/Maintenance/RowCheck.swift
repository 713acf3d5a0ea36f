import GRDB
import XferModel

/// Finds rows whose columns this program cannot read, which SQLite's own check cannot detect: JSON, URLs and values of
/// closed lists.
enum RowCheck {
    /// A row that cannot be read.
    struct Fault: CustomStringConvertible {
        let table: String
        /// The value of the table's key in this row.
        let key: String
        let column: String

        var description: String { "\(table) \(key) has an unreadable \(column)" }
    }

    /// The function that reads the rows of one table.
    private struct Reading: Sendable {
        let table: String
        let key: String
        let columns: String
        /// Reads the row as the program does; the row's first column is the key.
        let read: @Sendable (ResultRow) throws(StoreError) -> Void
    }

    /// The tables whose columns can be unreadable.
    private static let readings = [
        Reading(table: "task", key: "id", columns: "*") { row throws(StoreError) in _ = try TaskRow(row).task() },
        Reading(table: "transfer", key: "id", columns: "*") { row throws(StoreError) in
            _ = try TransferRow(row).transfer()
        },
        Reading(table: "transfer_source", key: "id", columns: "scheme, host, port, chain, tls, judgement, id") {
            row throws(StoreError) in _ = try SourceEvidence(row, table: "transfer_source")
        },
        Reading(table: "upload", key: "transfer_id", columns: "url") { row throws(StoreError) in
            guard HTTPURL(stored: row.text(0)) != nil else { throw .unreadable(table: "upload", id: 0, column: "url") }
        },
        Reading(table: "upload_part", key: "transfer_id", columns: "url") { row throws(StoreError) in
            guard HTTPURL(stored: row.text(0)) != nil else {
                throw .unreadable(table: "upload_part", id: 0, column: "url")
            }
        },
        Reading(table: "request_body", key: "task_id", columns: "body") { row throws(StoreError) in
            guard JSONText.decode(RequestBody.self, from: row.text(0)) != nil else {
                throw .unreadable(table: "request_body", id: 0, column: "body")
            }
        },
        Reading(table: "task_result", key: "task_id", columns: "content, file_name") { row throws(StoreError) in
            guard !row.isNull(0) || !row.isNull(1) else {
                throw .unreadable(table: "task_result", id: 0, column: "content")
            }
        },
        Reading(table: "event", key: "seq", columns: "payload, count") { row throws(StoreError) in
            guard EventText.decode(row.text(0), count: row.integer(1)) != nil else {
                throw .unreadable(table: "event", id: 0, column: "payload")
            }
        },
        Reading(table: "policy", key: "version", columns: "version, name, is_configured, policy, warned") {
            row throws(StoreError) in _ = try StoredPolicy(row)
        },
        Reading(table: "profile", key: "name", columns: "name, is_configured, profile") { row throws(StoreError) in
            _ = try StoredProfile(row)
        },
        Reading(
            table: "token", key: "id", columns: "id, name, digest, owner, scope, created_at, expires_at, directory"
        ) { row throws(StoreError) in
            _ = try StoredToken(row)
        },
        Reading(table: "ready_file", key: "task_id", columns: ReadyFile.columns) { row throws(StoreError) in
            _ = try ReadyFile(row)
        },
        Reading(table: "abandoned_upload", key: "id", columns: AbandonedUpload.columns) {
            row throws(StoreError) in _ = try AbandonedUpload(row)
        },
        Reading(table: "pending_hook", key: "id", columns: "id, occasion") { row throws(StoreError) in
            _ = try row.word(HookOccasion.self, 1, table: "pending_hook", id: row.integer(0), name: "occasion")
        },
        Reading(table: "ended_target", key: "target_id", columns: "target_id, outcome") { row throws(StoreError) in
            _ = try row.word(TaskState.self, 1, table: "ended_target", id: row.integer(0), name: "outcome")
        },
        Reading(table: "operation", key: "id", columns: BulkOperation.columns) { row throws(StoreError) in
            _ = try BulkOperation(row)
        },
        Reading(table: "failed_url", key: "id", columns: "id, url, method, owner, task_id, error, failed_at") {
            row throws(StoreError) in _ = try FailedURL(row)
        },
        Reading(table: "cache_entry", key: "id", columns: CacheEntry.columns) { row throws(StoreError) in
            _ = try CacheEntry(row)
        },
        Reading(table: "cache_source", key: "id", columns: "scheme, host, port, chain, tls, judgement, id") {
            row throws(StoreError) in _ = try SourceEvidence(row, table: "cache_source")
        },
    ]

    /// The highest number of faults that one pass reports for a table.
    static let most = 1000

    static func faults(_ db: Database) throws -> [Fault] { try readings.flatMap { try faults($0, db) } }

    private static func faults(_ reading: Reading, _ db: Database) throws -> [Fault] {
        var faults: [Fault] = []
        let statement = try db.makeStatement(
            sql: "SELECT \(reading.columns), \(reading.key) AS row_key FROM \(reading.table) ORDER BY \(reading.key)")
        let keyColumn = Int32(clamping: statement.columnCount) - 1
        let connection = Connection(db)
        _ = try connection.all(statement) { row throws(StoreError) in
            do throws(StoreError) {
                try reading.read(row)
            } catch {
                guard case .unreadable(_, _, let column) = error else { throw error }
                guard faults.count < most else { return }
                faults.append(Fault(table: reading.table, key: row.text(keyColumn), column: column))
            }
        }
        return faults
    }

    // MARK: Salvaging

    /// Columns that a task can do without: they only describe the end of an earlier run.
    private static let dispensable: Set<String> = ["error", "response_headers", "final_url"]

    /// Removes unreadable values of dispensable columns, and rows with any other unreadable value. Returns a line for
    /// each removal.
    static func removeUnreadable(_ db: Database) throws -> [String] {
        var lines: [String] = []
        // A task may have several unreadable columns, and there may be more than `most` rows: each pass clears a column
        // or removes a row.
        while case let faults = try faults(db), !faults.isEmpty {
            for fault in faults {
                if fault.table == "task", dispensable.contains(fault.column) {
                    try db.execute(sql: "UPDATE task SET \(fault.column) = NULL WHERE id = ?", arguments: [fault.key])
                    lines.append("\(fault); the task is kept without it")
                } else {
                    let key = readings.first { $0.table == fault.table }?.key ?? "rowid"
                    try db.execute(sql: "DELETE FROM \(fault.table) WHERE \(key) = ?", arguments: [fault.key])
                    lines.append("\(fault); the row is left out")
                }
            }
        }
        return lines
    }
}
