public import XferModel

/// The times at which the calendar conditions of tasks have to be checked.
public struct ConditionTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The time at which the first of them is due.
    public func earliest() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(due_at) FROM calendar") { $0.optionalTime(0) } ?? nil
    }

    /// Tasks whose conditions are due, earliest first.
    public func due(now: Timestamp, limit: Int) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT task.* FROM calendar CROSS JOIN task ON task.id = calendar.task_id
            WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2
            """, Value(now), Value(limit)
        )
    }

    /// Tasks with conditions of the calendar, with ids above `after`, ascending.
    public func tasks(after: TaskID?, limit: Int) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT task.* FROM calendar CROSS JOIN task ON task.id = calendar.task_id
            WHERE task_id > ?1 ORDER BY task_id LIMIT ?2
            """, .integer(after?.rawValue ?? 0), Value(limit)
        )
    }
}

extension ConditionTable where Store == StoreTransaction {
    /// Sets when the task's conditions have to be checked; nil for never. The row of a task that ends is removed
    /// without this call.
    public func set(of id: TaskID, due: Timestamp?) throws(StoreError) {
        if let due {
            try connection.run(
                """
                INSERT INTO calendar (task_id, due_at) VALUES (?1, ?2)
                ON CONFLICT DO UPDATE SET due_at = excluded.due_at WHERE due_at <> excluded.due_at
                """, Value(id), Value(due))
        } else {
            try connection.run("DELETE FROM calendar WHERE task_id = ?1", Value(id))
        }
    }
}
