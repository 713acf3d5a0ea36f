public import XferModel

/// The number of crashes of the daemon while a task was in flight.
extension StoreReader {
    /// Crashes since the task's last progress.
    public func crashCount(of id: TaskID) throws(StoreError) -> Int64 {
        try connection.first("SELECT count FROM task_crash WHERE task_id = ?1", Value(id)) { $0.integer(0) } ?? 0
    }
}

extension StoreTransaction {
    /// Counts a crash in which the task was in flight. Returns the number of crashes since its last progress, this one
    /// included. Progress is a further committed offset than at the crash before.
    public func countCrash(of task: TransferTask) throws(StoreError) -> Int64 {
        try connection.run(
            """
            INSERT INTO task_crash (task_id, count, furthest) VALUES (?1, 1, ?2)
            ON CONFLICT DO UPDATE SET furthest = excluded.furthest,
                count = CASE WHEN excluded.furthest > furthest THEN 1 ELSE count + 1 END
            """, Value(task.id), .integer(task.furthest))
        return try crashCount(of: task.id)
    }

    /// Resets the count, since the user retries the task.
    public func forgetCrashes(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM task_crash WHERE task_id = ?1", Value(id))
    }

    /// Removes the counts of tasks that have ended or were removed.
    public func forgetCrashesOfEndedTasks() throws(StoreError) {
        try connection.run(
            """
            DELETE FROM task_crash WHERE NOT EXISTS (
                SELECT 1 FROM task WHERE id = task_crash.task_id AND state NOT IN ('completed', 'failed', 'cancelled'))
            """)
    }
}
