public import XferModel

/// The cached responses: `cache_entry` and `cache_source`.
public struct CacheTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// All responses with this key, with any variant; the newest first.
    public func entries(key: [UInt8]) throws(StoreError) -> [CacheEntry] {
        try withSources(
            try connection.all(
                """
                SELECT id, owner, blob, url, final_url, status, fields, variant, request_time, response_time, length,
                    digest, stored_at, last_used_at
                FROM cache_entry WHERE key = ?1 ORDER BY id DESC
                """, .blob(key)
            ) { row throws(StoreError) in try CacheEntry(row) })
    }

    /// Returns one entry, if it is this owner's; nil means all owners.
    public func find(_ id: CacheEntryID, of owner: Owner?) throws(StoreError) -> CacheEntry? {
        try connection.first(
            """
            SELECT id, owner, blob, url, final_url, status, fields, variant, request_time, response_time, length,
                digest, stored_at, last_used_at
            FROM cache_entry WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)
            """, .integer(id.rawValue), Value(owner)
        ) { row throws(StoreError) in try CacheEntry(row) }
    }

    /// Returns one page of the entries, by id, without the servers that sent them. The cursor is opaque, and bound to
    /// owner and order.
    ///
    /// - Parameter owner: nil means all owners.
    public func entries(
        of owner: Owner?, ascending: Bool, limit: Int, cursor: String?
    ) throws(StoreError) -> CachePage {
        let words = ["cache", ascending ? "asc" : "desc", owner?.description ?? "all"]
        var last = if let cursor { try ListCursor(cursor, of: words).last } else { ascending ? 0 : Int64.max }
        var (entries, bytes): ([CacheEntry], Int) = ([], 0)
        // One more than requested, to know whether there is another page.
        let most = limit.addingSaturated(1)
        while entries.count < most, bytes < PageBounds(limit: limit).bytes {
            let count = min(50, most - entries.count)
            let rows = try connection.all(
                composed: """
                    SELECT id, owner, blob, url, final_url, status, fields, variant, request_time, response_time, length,
                        digest, stored_at, last_used_at
                    FROM cache_entry WHERE \(owner == nil ? "?1 IS NULL" : "owner = ?1") AND id \(ascending ? ">" : "<") ?2
                    ORDER BY id \(ascending ? "ASC" : "DESC") LIMIT ?3
                    """, [Value(owner), .integer(last), Value(count)]
            ) { row throws(StoreError) in (try CacheEntry(row), row.text(3).utf8.count + row.text(6).utf8.count) }
            entries += rows.map(\.0)
            bytes = rows.reduce(bytes) { $0.addingSaturated($1.1) }
            guard rows.count == count, let next = rows.last?.0.id else {
                return CachePage(entries: Array(entries.prefix(limit)), of: words, isLast: entries.count <= limit)
            }
            last = next.rawValue
        }
        return CachePage(entries: Array(entries.prefix(limit)), of: words, isLast: false)
    }

    /// The size of an owner's cache; nil means all owners.
    public func totals(of owner: Owner? = nil) throws(StoreError) -> CacheTotals {
        try connection.first(
            "SELECT count(*), coalesce(sum(length), 0) FROM cache_entry WHERE ?1 IS NULL OR owner = ?1", Value(owner)
        ) { CacheTotals(count: $0.integer(0), byteCount: $0.amount(1)) } ?? CacheTotals()
    }

    /// The bytes that each owner's entries have.
    public func use() throws(StoreError) -> [Owner: Int64] {
        let rows = try connection.all("SELECT owner, sum(length) FROM cache_entry GROUP BY owner") {
            (Owner(uid: UInt32(truncatingIfNeeded: $0.integer(0))), $0.amount(1))
        }
        return Dictionary(rows) { $0.addingSaturated($1) }
    }

    /// The entries of an owner (nil: of all owners) that were used the longest ago.
    public func leastRecentlyUsed(of owner: Owner? = nil, limit: Int) throws(StoreError) -> [CachedBlob] {
        guard let owner else {
            return try connection.all(
                "SELECT id, blob, length, last_used_at FROM cache_entry ORDER BY last_used_at, id LIMIT ?1",
                Value(limit)
            ) { CachedBlob($0) }
        }
        return try connection.all(
            """
            SELECT id, blob, length, last_used_at FROM cache_entry INDEXED BY cache_entry_owner_used
            WHERE owner = ?1 ORDER BY last_used_at, id LIMIT ?2
            """, Value(owner), Value(limit)
        ) { CachedBlob($0) }
    }

    /// The entries after this one, by id.
    public func blobs(after id: CacheEntryID, limit: Int) throws(StoreError) -> [CachedBlob] {
        try connection.all(
            "SELECT id, blob, length, last_used_at FROM cache_entry WHERE id > ?1 ORDER BY id LIMIT ?2",
            .integer(id.rawValue), Value(limit)
        ) { CachedBlob($0) }
    }

    /// The files of this list that a cache entry refers to.
    public func wantedBlobs(among names: [String]) throws(StoreError) -> Set<String> {
        Set(
            try connection.all(
                "SELECT blob FROM cache_entry WHERE blob IN (SELECT value FROM json_each(?1))",
                .text(JSONText.array(names))
            ) { $0.text(0) })
    }

    private func withSources(_ entries: [CacheEntry]) throws(StoreError) -> [CacheEntry] {
        var entries = entries
        for index in entries.indices {
            entries[index].response.sources = try connection.all(
                """
                SELECT scheme, host, port, chain, tls, judgement, id FROM cache_source WHERE entry_id = ?1 ORDER BY id
                """, .integer(entries[index].id.rawValue)
            ) { row throws(StoreError) in try SourceEvidence(row, table: "cache_source") }
        }
        return entries
    }
}

extension CachePage {
    fileprivate init(entries: [CacheEntry], of words: [String], isLast: Bool) {
        let cursors = entries.map { ListCursor(last: $0.id.rawValue, of: words).text }
        self.init(entries: entries, cursors: cursors, nextCursor: isLast ? nil : cursors.last)
    }
}

/// An entry's file.
public struct CachedBlob: Hashable, Sendable {
    public var id: CacheEntryID
    /// Its name in the cache directory.
    public var name: String
    public var length: Int64
    public var lastUsedAt: Timestamp

    /// Reads a row with id, blob, length, last_used_at.
    init(_ row: ResultRow) {
        id = CacheEntryID(row.integer(0))
        name = row.text(1)
        length = row.amount(2)
        lastUsedAt = row.time(3)
    }
}

extension CacheEntry {
    /// The columns that `init(_:)` reads.
    static let columns = """
        id, owner, blob, url, final_url, status, fields, variant, request_time, response_time, length, digest, stored_at, \
        last_used_at
        """

    init(_ row: ResultRow) throws(StoreError) {
        let id = row.integer(0)
        func decoded<T>(_ value: T?, _ column: String) throws(StoreError) -> T {
            guard let value else { throw .unreadable(table: "cache_entry", id: id, column: column) }
            return value
        }
        var response = StoredResponse(
            url: try decoded(HTTPURL(stored: row.text(3)), "url"),
            finalURL: try decoded(HTTPURL(stored: row.text(4)), "final_url"), requestTime: row.time(8),
            responseTime: row.time(9))
        response.status = Int(clamping: row.integer(5))
        response.fields = try decoded(JSONText.decodeHeaders(row.optionalText(6)), "fields")
        response.variant = try decoded(JSONText.decodeHeaders(row.optionalText(7)), "variant")
        response.length = row.amount(10)
        response.digest = row.optionalBlob(11) ?? []
        self.init(
            id: CacheEntryID(id), owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(1))), blob: row.text(2),
            response: response, storedAt: row.time(12), lastUsedAt: row.time(13))
    }
}
