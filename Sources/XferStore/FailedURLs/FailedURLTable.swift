public import XferModel

/// The permanently failed URLs: `failed_url`.
public struct FailedURLTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The key for digests, which was made with the database.
    public func digestKey() throws(StoreError) -> [UInt8] {
        let found = try connection.first("SELECT digest_key FROM store") { $0.optionalBlob(0) }
        guard let found, let key = found else { throw .unreadable(table: "store", id: 1, column: "digest_key") }
        return key
    }

    /// True if there is any entry at all, current or not.
    public func hasAny() throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM failed_url LIMIT 1") { _ in true } ?? false
    }

    /// The entry with this key, if it failed within these times.
    public func find(
        key: [UInt8], within times: ClosedRange<Timestamp>
    ) throws(StoreError) -> FailedURL? {
        try connection.first(
            """
            SELECT id, url, method, owner, task_id, error, failed_at FROM failed_url
            WHERE key = ?1 AND failed_at BETWEEN ?2 AND ?3
            """, .blob(key), Value(times.lowerBound), Value(times.upperBound)
        ) { row throws(StoreError) in try FailedURL(row) }
    }

    /// Returns one page of the entries that failed within these times, by id. The cursor is opaque, and bound to owner
    /// and order.
    ///
    /// - Parameter owner: nil means all owners.
    public func list(
        of owner: Owner?, within times: ClosedRange<Timestamp>, ascending: Bool, limit: Int, cursor: String?
    ) throws(StoreError) -> FailedURLPage {
        let words = ["failed_url", ascending ? "asc" : "desc", owner?.description ?? "all"]
        let last = if let cursor { try ListCursor(cursor, of: words).last } else { ascending ? 0 : Int64.max }
        // One more than requested, to know whether there is another page. The list is bounded, so rows that do not
        // match are skipped.
        let values = [Value(owner), .integer(last), Value(times.lowerBound), Value(times.upperBound), Value(limit + 1)]
        var entries = try connection.all(
            composed: """
                SELECT id, url, method, owner, task_id, error, failed_at FROM failed_url
                WHERE (?1 IS NULL OR owner = ?1) AND id \(ascending ? ">" : "<") ?2 AND failed_at BETWEEN ?3 AND ?4
                ORDER BY id \(ascending ? "ASC" : "DESC") LIMIT ?5
                """, values
        ) { row throws(StoreError) in try FailedURL(row) }
        let isLast = entries.count <= limit
        entries.removeSubrange(min(limit, entries.count)...)
        let cursors = entries.map { ListCursor(last: $0.id.rawValue, of: words).text }
        return FailedURLPage(entries: entries, cursors: cursors, nextCursor: isLast ? nil : cursors.last)
    }
}

extension FailedURL {
    /// Reads a row with id, url, method, owner, task_id, error, failed_at.
    init(_ row: ResultRow) throws(StoreError) {
        let id = row.integer(0)
        guard let error = JSONText.decode(TransferError.self, from: row.text(5)) else {
            throw .unreadable(table: "failed_url", id: id, column: "error")
        }
        self.init(
            id: FailedURLID(id), url: row.text(1),
            method: try row.word(HTTPMethod.self, 2, table: "failed_url", id: id, name: "method"),
            owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(3))), taskID: TaskID(row.integer(4)), error: error,
            failedAt: row.time(6))
    }
}
