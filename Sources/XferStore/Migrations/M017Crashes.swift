extension Migration {
    /// Tasks that were in flight when the daemon crashed.
    static let crashes = Migration(
        name: "crashes",
        sql: """
            -- No foreign key: each task's deletion would look here. What is left of tasks that ended goes with the next start.
            CREATE TABLE task_crash (
                task_id INTEGER PRIMARY KEY,
                -- Crashes since the task's last progress.
                count INTEGER NOT NULL,
                -- The task's furthest offset at the last one: a further one is progress.
                furthest INTEGER NOT NULL
            ) STRICT;
            """)
}
