public import XferModel

/// The number of crashes of the daemon while a task was in flight.
public struct CrashTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Crashes since the task's last progress.
    public func count(of id: TaskID) throws(StoreError) -> Int64 {
        try connection.first("SELECT count FROM task_crash WHERE task_id = ?1", Value(id)) { $0.integer(0) } ?? 0
    }
}

extension CrashTable where Store == StoreTransaction {
    /// Counts a crash in which the task was in flight. Returns the number of crashes since its last progress, this one
    /// included. Progress is a further committed offset than at the crash before.
    public func add(of task: TransferTask) throws(StoreError) -> Int64 {
        try connection.run(
            """
            INSERT INTO task_crash (task_id, count, furthest) VALUES (?1, 1, ?2)
            ON CONFLICT DO UPDATE SET furthest = excluded.furthest,
                count = CASE WHEN excluded.furthest > furthest THEN 1 ELSE count + 1 END
            """, Value(task.id), .integer(task.furthest))
        return try count(of: task.id)
    }

    /// Resets the count, since the user retries the task.
    public func remove(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM task_crash WHERE task_id = ?1", Value(id))
    }

    /// Resets the counts of crashes, since the user resumes the tasks.
    public func remove(of tasks: [TaskOutline]) throws(StoreError) {
        try connection.run(
            "DELETE FROM task_crash WHERE task_id IN (SELECT value FROM json_each(?1))",
            .text(JSONText.array(tasks.map(\.id.rawValue))))
    }

    /// Removes the counts of tasks that have ended or were removed.
    public func removeOfEndedTasks() throws(StoreError) {
        try connection.run(
            """
            DELETE FROM task_crash WHERE NOT EXISTS (
                SELECT 1 FROM task WHERE id = task_crash.task_id AND state NOT IN ('completed', 'failed', 'cancelled'))
            """)
    }
}
