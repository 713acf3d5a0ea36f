public import XferModel

/// Ended tasks that may be removed, wholly or in part.
extension TaskTable {
    /// Returns failed tasks that finished before `olderThan` and still have a transfer, oldest first: their kept bytes
    /// can be deleted.
    public func expiredFailed(olderThan: Timestamp, limit: Int) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT * FROM task INDEXED BY task_keeping_bytes
            WHERE state = 'failed' AND transfer_id IS NOT NULL AND finished_at < ?1 ORDER BY finished_at LIMIT ?2
            """,
            Value(olderThan), Value(limit)
        )
    }
}

extension TaskTable where Store == StoreTransaction {
    /// Deletes at most `step` of the terminal tasks that finished first, beyond `maxCount` or finished before
    /// `olderThan`. Returns their ids, and the transfers whose bytes they kept, which may no longer have a task. Call
    /// it again, in a write of its own, until it returns none.
    public func trimHistory(
        maxCount: Int64, olderThan: Timestamp, step: Int = 200
    ) throws(StoreError) -> (tasks: [TaskID], transfers: [TransferID]) {
        let counts = try store.counts.byState()
        let excess = TaskState.allCases.filter(\.isTerminal).compactMap { counts[$0] }.saturatedSum
            .subtractingSaturated(maxCount)
        let oldest = try connection.all(
            """
            SELECT id, finished_at, transfer_id FROM task INDEXED BY task_finished
            WHERE (state = 'completed' OR state = 'failed' OR state = 'cancelled') ORDER BY finished_at, id LIMIT ?1
            """, Value(step)
        ) {
            (
                id: TaskID($0.integer(0)), finishedAt: $0.time(1),
                transfer: $0.optionalInteger(2).map { TransferID($0) }
            )
        }
        let gone = oldest.enumerated().filter { Int64($0.offset) < excess || $0.element.finishedAt < olderThan }
            .map(\.element)
        for task in gone { try delete(task.id) }
        return (gone.map(\.id), gone.compactMap(\.transfer))
    }
}
