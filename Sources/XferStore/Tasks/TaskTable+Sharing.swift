public import XferModel

/// The tasks that share a transfer, and those that could.
extension TaskTable {
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
    public func hasQueued() throws(StoreError) -> Bool {
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
}
