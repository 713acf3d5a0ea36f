public import XferModel

extension StoreReader {
    /// All policies, by name.
    public func policies() throws(StoreError) -> [StoredPolicy] {
        try connection.all("SELECT version, name, is_configured, policy, warned FROM policy ORDER BY name") {
            row throws(StoreError) in try StoredPolicy(row)
        }
    }

    public func policy(named name: String) throws(StoreError) -> StoredPolicy? {
        try connection.first(
            "SELECT version, name, is_configured, policy, warned FROM policy WHERE name = ?1", .text(name)
        ) { row throws(StoreError) in try StoredPolicy(row) }
    }

    /// Unfinished tasks that name this policy, at most `limit` of them.
    public func unfinishedTasks(namingPolicy name: String, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            """
            SELECT id FROM task INDEXED BY task_policy
            WHERE policy = ?1 AND state NOT IN ('completed', 'failed', 'cancelled') LIMIT ?2
            """, .text(name), Value(limit)
        ) { TaskID($0.integer(0)) }
    }
}
