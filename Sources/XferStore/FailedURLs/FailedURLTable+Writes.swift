public import XferModel

extension FailedURLTable where Store == StoreTransaction {
    /// Adds the URL of `task` to the list; an entry with the same key is replaced and becomes the newest.
    ///
    /// Each call also deletes up to 16 entries that are older than the newest `maxCount`, so that the table stays
    /// bounded without counting its rows.
    /// - Parameters:
    ///   - key: digest that distinguishes requests.
    ///   - urlDigest: digest of the URL alone.
    public func insert(
        key: [UInt8], urlDigest: [UInt8], of task: TransferTask, error: TransferError, maxCount: Int64,
        at time: Timestamp
    ) throws(StoreError) {
        try connection.run("DELETE FROM failed_url WHERE key = ?1", .blob(key))
        let request = task.specification.request
        try connection.run(
            """
            INSERT INTO failed_url (key, url_digest, url, method, owner, task_id, error, failed_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """, .blob(key), .blob(urlDigest), .text(request.url.description), Value(request.method), Value(task.owner),
            Value(task.id), .text(try JSONText.encode(error)), Value(time))
        let oldest = connection.lastInsertedID.subtractingSaturated(maxCount)
        try connection.run(
            "DELETE FROM failed_url WHERE id IN (SELECT id FROM failed_url WHERE id <= ?1 ORDER BY id LIMIT 16)",
            .integer(oldest))
    }

    /// Removes the entry, since the URL can be fetched again.
    public func remove(key: [UInt8]) throws(StoreError) {
        try connection.run("DELETE FROM failed_url WHERE key = ?1", .blob(key))
    }

    /// Removes the entries with these ids. Returns the removed ids; `owner` nil means all owners.
    public func remove(_ ids: [FailedURLID], of owner: Owner?) throws(StoreError) -> [FailedURLID] {
        try connection.all(
            """
            DELETE FROM failed_url
            WHERE id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR owner = ?2) RETURNING id
            """, .text(JSONText.array(ids.map(\.rawValue))), Value(owner)
        ) { FailedURLID($0.integer(0)) }
    }

    /// Removes all entries with this URL, including those whose keys have other parts of the request. Returns their
    /// ids.
    public func remove(urlDigest: [UInt8], of owner: Owner?) throws(StoreError) -> [FailedURLID] {
        try connection.all(
            "DELETE FROM failed_url WHERE url_digest = ?1 AND (?2 IS NULL OR owner = ?2) RETURNING id",
            .blob(urlDigest), Value(owner)
        ) { FailedURLID($0.integer(0)) }
    }

    /// Removes at most `step` entries of an owner (nil: of all owners) and returns how many it removed. Call it again,
    /// in a write of its own, until it returns 0.
    public func clear(of owner: Owner?, step: Int = 500) throws(StoreError) -> Int {
        try connection.run(
            """
            DELETE FROM failed_url
            WHERE id IN (SELECT id FROM failed_url WHERE ?1 IS NULL OR owner = ?1 ORDER BY id LIMIT ?2)
            """, Value(owner), Value(step))
        return connection.changeCount
    }

    /// Removes at most `step` of the entries that failed outside `times` (nil: of all entries) and returns how many it
    /// removed. Call it again, in a write of its own, until it returns 0.
    public func trim(
        keeping times: ClosedRange<Timestamp>?, step: Int = 500
    ) throws(StoreError) -> Int {
        guard let times else { return try clear(of: nil, step: step) }
        try connection.run(
            """
            DELETE FROM failed_url
            WHERE id IN (SELECT id FROM failed_url WHERE failed_at < ?1 OR failed_at > ?2 LIMIT ?3)
            """, Value(times.lowerBound), Value(times.upperBound), Value(step))
        return connection.changeCount
    }
}
