public import XferModel

extension CacheEntry {
    /// The highest number of responses with one key that differ in the fields that `Vary` lists. The oldest are removed
    /// first.
    static let maxVariants = 16
}

/// Inserts and removes entries of the cache. The caller owns the files: it deletes those of removed entries after the
/// commit.
extension CacheTable where Store == StoreTransaction {
    /// Keeps a response whose content is in the file `blob`; replaces the response with the same key and variant.
    ///
    /// - Parameters:
    ///   - urlDigest: the digest of only the URL.
    ///   - finalURLDigest: digest of the URL after redirects.
    /// - Returns: the id of the entry, and the files of the entries that were removed for it.
    public func insert(
        _ response: StoredResponse, key: [UInt8], urlDigest: [UInt8], finalURLDigest: [UInt8], blob: String,
        owner: Owner, at now: Timestamp
    ) throws(StoreError) -> (id: CacheEntryID, replaced: [CachedBlob]) {
        let variant = Value(JSONText.encode(headers: response.variant))
        var replaced = try connection.all(
            "DELETE FROM cache_entry WHERE key = ?1 AND variant IS ?2 RETURNING id, blob, length, last_used_at",
            .blob(key), variant
        ) { CachedBlob($0) }
        replaced += try connection.all(
            """
            DELETE FROM cache_entry
            WHERE id IN (SELECT id FROM cache_entry WHERE key = ?1 ORDER BY id DESC LIMIT -1 OFFSET ?2)
            RETURNING id, blob, length, last_used_at
            """, .blob(key), Value(CacheEntry.maxVariants - 1)
        ) { CachedBlob($0) }
        try connection.run(
            """
            INSERT INTO cache_entry (key, url_digest, final_url_digest, owner, blob, url, final_url, status, fields,
                variant, request_time, response_time, length, digest, stored_at, last_used_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15)
            """, .blob(key), .blob(urlDigest), .blob(finalURLDigest), Value(owner), .text(blob),
            .text(response.url.string), .text(response.finalURL.string), Value(response.status),
            Value(JSONText.encode(headers: response.fields)), variant, Value(response.requestTime),
            Value(response.responseTime), Value(response.length), .blob(response.digest), Value(now))
        let id = CacheEntryID(connection.lastInsertedID)
        try insert(response.sources, of: id)
        return (id, replaced)
    }

    private func insert(_ sources: [SourceEvidence], of id: CacheEntryID) throws(StoreError) {
        for source in sources {
            try connection.run(
                """
                INSERT INTO cache_source (entry_id, scheme, host, port, chain, tls, judgement)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """, .integer(id.rawValue), Value(source.origin.scheme), .text(source.origin.host),
                Value(Int(clamping: source.origin.port)), .text(source.chainText), Value(source.tls?.rawValue),
                .text(source.judgement))
        }
    }

    /// Replaces the header fields, times and sources of a response that the server has confirmed.
    public func renew(
        _ id: CacheEntryID, _ response: StoredResponse, at now: Timestamp
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE cache_entry SET fields = ?2, request_time = ?3, response_time = ?4, stored_at = ?5, last_used_at = ?5
            WHERE id = ?1
            """, .integer(id.rawValue), Value(JSONText.encode(headers: response.fields)), Value(response.requestTime),
            Value(response.responseTime), Value(now))
        guard connection.changeCount > 0 else { return }
        try connection.run("DELETE FROM cache_source WHERE entry_id = ?1", .integer(id.rawValue))
        try insert(response.sources, of: id)
    }

    /// Records that the entry was used.
    public func touch(_ id: CacheEntryID, at now: Timestamp) throws(StoreError) {
        try connection.run(
            "UPDATE cache_entry SET last_used_at = ?2 WHERE id = ?1", .integer(id.rawValue), Value(now))
    }

    /// Removes the entries with these ids. Returns their files; `owner` nil means all owners.
    public func remove(_ ids: [CacheEntryID], of owner: Owner? = nil) throws(StoreError) -> [CachedBlob] {
        try connection.all(
            """
            DELETE FROM cache_entry
            WHERE id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR owner = ?2)
            RETURNING id, blob, length, last_used_at
            """, .text(JSONText.array(ids.map(\.rawValue))), Value(owner)
        ) { CachedBlob($0) }
    }

    /// Removes the entries whose request or final URL has this digest.
    public func remove(urlDigest: [UInt8], of owner: Owner?) throws(StoreError) -> [CachedBlob] {
        try connection.all(
            """
            DELETE FROM cache_entry
            WHERE (url_digest = ?1 OR final_url_digest = ?1) AND (?2 IS NULL OR owner = ?2)
            RETURNING id, blob, length, last_used_at
            """, .blob(urlDigest), Value(owner)
        ) { CachedBlob($0) }
    }
}
