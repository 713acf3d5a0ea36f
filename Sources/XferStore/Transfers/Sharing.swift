public import XferModel

/// The tasks that share a transfer, and those that could.
extension StoreReader {
    /// Returns queued tasks with this key whose groups are not paused, in the order they were added.
    public func queued(coalescing key: [UInt8], limit: Int) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT * FROM task INDEXED BY task_coalescing
            WHERE coalesce_key = ?1 AND coalesce_key IS NOT NULL AND state = 'queued'
                AND NOT EXISTS (
                    SELECT 1 FROM queue_group INDEXED BY group_paused WHERE id = task.group_id AND paused = 1)
            ORDER BY id LIMIT ?2
            """, .blob(key), Value(limit)
        )
    }

    /// True if any task is queued.
    public func hasQueuedTasks() throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM task WHERE state = 'queued' LIMIT 1") { _ in true } ?? false
    }

    /// True if `queued(coalescing:)` would list another task than this one.
    public func hasOthers(thanTask id: TaskID, coalescing key: [UInt8]) throws(StoreError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM task INDEXED BY task_coalescing
            WHERE coalesce_key = ?1 AND coalesce_key IS NOT NULL AND state = 'queued' AND id <> ?2
                AND NOT EXISTS (
                    SELECT 1 FROM queue_group INDEXED BY group_paused WHERE id = task.group_id AND paused = 1)
            LIMIT 1
            """, .blob(key), Value(id)
        ) { _ in true } ?? false
    }

    /// Transfers whose bytes tasks with this key keep, the oldest first.
    public func transfers(keptUnder key: [UInt8], limit: Int) throws(StoreError) -> [Transfer] {
        let ids = try connection.all(
            """
            SELECT DISTINCT transfer_id FROM task INDEXED BY task_sharing
            WHERE coalesce_key = ?1 AND coalesce_key IS NOT NULL AND transfer_id IS NOT NULL AND state <> 'cancelled'
            ORDER BY transfer_id LIMIT ?2
            """, .blob(key), Value(limit)
        ) { TransferID($0.integer(0)) }
        var transfers: [Transfer] = []
        for id in ids { if let transfer = try transfer(id) { transfers.append(transfer) } }
        return transfers
    }

    /// True if any task uses this transfer: a task in any state but cancelled.
    ///
    /// - Parameter task: is not counted.
    public func isUsed(_ transfer: TransferID, but task: TaskID? = nil) throws(StoreError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM task INDEXED BY task_transfer
            WHERE transfer_id = ?1 AND id IS NOT ?2 AND state <> 'cancelled' LIMIT 1
            """, Value(transfer), Value(task)
        ) { _ in true } ?? false
    }
}
