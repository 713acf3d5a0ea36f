import XferModel

/// The tables whose rows are removed together with the task of their `task_id`. They have no foreign keys: see
/// `Migration.cheapRemovals`.
enum TaskDependents {
    static let tables: [StaticString] = [
        "reservation", "request_body", "task_result", "spooled_source", "published_file", "calendar", "dependency",
        "task_bytes",
    ]

    /// `+` hides the second condition from the planner: usually no row has a `task_id` in the range, and one search of
    /// the table is enough for all tasks.
    fileprivate static func deletion(from table: StaticString) -> String {
        """
        DELETE FROM \(table) WHERE task_id BETWEEN ?1 AND ?2 AND +task_id IN (SELECT value FROM json_each(?3))
        """
    }
}

extension StoreTransaction {
    /// Deletes the rows that depend on tasks that are about to be deleted.
    func deleteDependents(of tasks: [TaskID]) throws(StoreError) {
        guard let first = tasks.min(), let last = tasks.max() else { return }
        let list = Value.text(JSONText.array(tasks.map(\.rawValue)))
        for table in TaskDependents.tables {
            try connection.run(
                table, composed: TaskDependents.deletion(from: table), [Value(first), Value(last), list])
        }
    }
}
