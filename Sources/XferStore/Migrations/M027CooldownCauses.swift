extension Migration {
    /// Finds the cooldowns that an answer to a task has set.
    static let cooldownCauses = Migration(
        name: "tasks of cooldowns",
        sql: """
            CREATE INDEX cooldown_task ON host_cooldown (task_id) WHERE task_id IS NOT NULL;
            """)
}
