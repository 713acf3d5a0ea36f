public import XferModel

/// Waiting tasks, by time and by reason.
extension StoreReader {
    /// When the first wait with a known end is over.
    public func earliestWaitUntil() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(wait_until) FROM task WHERE wait_until IS NOT NULL") { $0.optionalTime(0) }
            ?? nil
    }

    /// Waiting tasks whose time has come, earliest first.
    public func dueWaits(now: Timestamp, limit: Int) throws(StoreError) -> [TransferTask] {
        try connection.all(
            "SELECT * FROM task WHERE wait_until <= ?1 ORDER BY wait_until, id LIMIT ?2", Value(now), Value(limit)
        ) { row throws(StoreError) in try TaskRow(row).task() }
    }

    /// Tasks waiting for this reason with ids above `after`, ascending.
    public func waiting(
        for reason: WaitReason, after: TaskID? = nil, limit: Int
    ) throws(StoreError) -> [TransferTask] {
        try connection.all(
            """
            SELECT * FROM task INDEXED BY task_wait WHERE wait_reason = ?1 AND id > ?2 ORDER BY id LIMIT ?3
            """,
            Value(reason), .integer(after?.rawValue ?? 0), Value(limit)
        ) { row throws(StoreError) in try TaskRow(row).task() }
    }
}
