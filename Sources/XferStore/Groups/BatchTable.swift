public import XferModel

/// Batches: a row each, and the number of members by state.
public struct BatchTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Batches that were added before `before`, the newest first; `owner` nil means all owners.
    public func list(owner: Owner? = nil, before: BatchID? = nil, limit: Int) throws(StoreError) -> [Batch] {
        let ids = try connection.all(
            "SELECT id FROM batch WHERE id < ?1 AND (?2 IS NULL OR owner = ?2) ORDER BY id DESC LIMIT ?3",
            .integer(before?.rawValue ?? .max), Value(owner.map { Int64($0.rawValue) }), Value(limit)
        ) { BatchID($0.integer(0)) }
        var batches: [Batch] = []
        for id in ids { if let batch = try find(id) { batches.append(batch) } }
        return batches
    }

    /// A batch with the counts of its members.
    public func find(_ id: BatchID) throws(StoreError) -> Batch? {
        try store.settleBatches()
        let row = try connection.first(
            """
            SELECT owner, group_name, coalesce(total, 0), removed_failed, created_at, completed_at
            FROM batch WHERE id = ?1
            """, Value(id)
        ) { row in
            (
                owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(0))), group: row.text(1),
                total: row.amount(2), removedFailed: row.amount(3), createdAt: row.time(4),
                completedAt: row.optionalTime(5)
            )
        }
        guard let row else { return nil }
        let counts = try counts(of: id)
        return Batch(
            id: id, owner: row.owner, group: row.group, total: row.total,
            skipped: row.removedFailed.addingSaturated(counts[.failed] ?? 0), counts: counts, createdAt: row.createdAt,
            completedAt: row.completedAt)
    }

    /// Members whose rows still exist, ascending, which is the order of their entries.
    public func members(of id: BatchID, after: TaskID? = nil, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            "SELECT id FROM task INDEXED BY task_batch WHERE batch_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3", Value(id),
            .integer(after?.rawValue ?? 0), Value(limit)
        ) { TaskID($0.integer(0)) }
    }

    /// The batch an add with this key was answered with before; nil when there was none.
    public func earlier(owner: Owner, clientKey: String, requestText: String) throws(StoreError) -> EarlierBatch? {
        try connection.first(
            "SELECT id, fingerprint, refused FROM batch WHERE owner = ?1 AND client_key = ?2", Value(owner),
            .text(clientKey)
        ) {
            EarlierBatch(
                id: BatchID($0.integer(0)), isSameRequest: $0.integer(1) == Fingerprint(requestText: requestText).value,
                refused: $0.optionalText(2))
        }
    }

    private func counts(of id: BatchID) throws(StoreError) -> [TaskState: Int64] {
        let rows = try connection.all(
            "SELECT state, count FROM batch_count WHERE batch_id = ?1 AND count > 0", Value(id)
        ) { row throws(StoreError) in
            (try row.word(TaskState.self, 0, table: "batch_count", id: id.rawValue, name: "state"), row.amount(1))
        }
        return Dictionary(rows) { $0.addingSaturated($1) }
    }
}

/// The earlier batch that a repeated add with the same `client_key` finds.
public struct EarlierBatch: Hashable, Sendable {
    public let id: BatchID
    public let isSameRequest: Bool
    /// The answer about refused entries.
    public let refused: String?
}

extension BatchTable where Store == StoreTransaction {
    /// A new batch without members, and the group they are to be in. It cannot complete before `seal`.
    ///
    /// - Parameter maxActive: its own concurrency.
    public func insert(
        owner: Owner, maxActive: Int, clientKey: String? = nil, requestText: String? = nil, at time: Timestamp
    ) throws(StoreError) -> (id: BatchID, group: String) {
        try connection.run(
            """
            INSERT INTO batch (owner, group_name, client_key, fingerprint, created_at) VALUES (?1, '', ?2, ?3, ?4)
            """,
            Value(owner), Value(clientKey), Value(requestText.map { Fingerprint(requestText: $0).value }), Value(time))
        let id = BatchID(connection.lastInsertedID)
        let group = "batch-\(id)"
        try connection.run("UPDATE batch SET group_name = ?2 WHERE id = ?1", Value(id), .text(group))
        // A group of this name may exist already, with tasks: then it keeps its limits.
        try store.groups.make(GroupKey(owner: owner, name: group), batch: id, maxActive: maxActive)
        return (id, group)
    }

    /// Records that all members are inserted: from now on the batch completes when none is unfinished.
    ///
    /// - Parameter refused: the answer about entries that did not become members.
    public func seal(_ id: BatchID, total: Int, refused: String?) throws(StoreError) {
        try connection.run(
            "UPDATE batch SET total = ?2, refused = ?3 WHERE id = ?1", Value(id), Value(total), Value(refused))
        if total == 0, let group = try find(id).map({ GroupKey(owner: $0.owner, name: $0.group) }),
            let row = try store.groups.id(of: group)
        {
            try store.groups.tidy(row)
        }
        try store.settleBatches()
        try completeIfFinished(id)
    }

    /// Removes at most `step` completed batches without members, the oldest first, that completed before `olderThan`;
    /// returns their number.
    public func trim(olderThan: Timestamp, step: Int = 200) throws(StoreError) -> Int {
        try store.settleBatches()
        try connection.run(
            """
            DELETE FROM batch WHERE id IN (
                SELECT id FROM batch INDEXED BY batch_completed WHERE completed_at < ?1
                    AND NOT EXISTS (SELECT 1 FROM task INDEXED BY task_batch WHERE batch_id = batch.id)
                ORDER BY completed_at LIMIT ?2)
            """, Value(olderThan), Value(step))
        return connection.changeCount
    }

    /// Appends `batch.completed` for batches whose last member has ended in this transaction. The commit does so, too;
    /// call it where another event has to follow.
    public func completeFinished() throws(StoreError) { try store.settleBatches() }

    // MARK: Counting

    func change(_ key: BatchKey, by amount: Int64) throws(StoreError) {
        let count = try connection.first(
            """
            INSERT INTO batch_count (batch_id, state, count) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET count = count + excluded.count RETURNING count
            """, Value(key.batch), Value(key.state), .integer(amount)
        ) { $0.integer(0) }
        guard count == 0 else { return }
        try connection.run(
            "DELETE FROM batch_count WHERE batch_id = ?1 AND state = ?2", Value(key.batch), Value(key.state))
    }

    func countRemovedFailure(from id: BatchID) throws(StoreError) {
        try connection.run("UPDATE batch SET removed_failed = removed_failed + 1 WHERE id = ?1", Value(id))
    }

    /// Appends `batch.completed` when no member is unfinished for the first time: never again, even if members are
    /// retried or removed.
    func completeIfFinished(_ id: BatchID) throws(StoreError) {
        let unfinished = try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM batch_count WHERE batch_id = ?1
                AND state NOT IN ('completed', 'failed', 'cancelled') AND count > 0)
            FROM batch WHERE id = ?1 AND total IS NOT NULL AND completed_at IS NULL
            """, Value(id)
        ) { $0.flag(0) }
        guard unfinished == false else { return }
        // When its last member ended; a batch without members, when it was added.
        let time = try connection.first(
            """
            SELECT coalesce((SELECT max(finished_at) FROM task INDEXED BY task_batch WHERE batch_id = ?1), created_at)
            FROM batch WHERE id = ?1
            """, Value(id)
        ) { $0.time(0) }
        guard let time else { return }
        try connection.run("UPDATE batch SET completed_at = ?2 WHERE id = ?1", Value(id), Value(time))
        guard let batch = try find(id) else { return }
        try store.events.append(
            .batchCompleted(batch: id, total: batch.total, finished: batch.finished, skipped: batch.skipped),
            owner: batch.owner, at: time)
    }
}
