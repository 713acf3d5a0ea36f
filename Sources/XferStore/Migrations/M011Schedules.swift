extension Migration {
    /// When the conditions of tasks have to be checked, and which tasks depend on which.
    static let schedules = Migration(
        name: "schedules",
        sql: """
            -- Unfinished tasks with conditions of the calendar, and when one of these next has something to say.
            CREATE TABLE calendar (
                task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
                due_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX calendar_due ON calendar (due_at);

            -- `target_id` has to complete before `task_id` starts. The row outlives its target, whose end it knows: null
            -- while that is open.
            CREATE TABLE dependency (
                task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
                target_id INTEGER NOT NULL,
                outcome TEXT,
                PRIMARY KEY (task_id, target_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX dependency_open ON dependency (target_id, task_id) WHERE outcome IS NULL;

            -- Targets that have ended and whose dependents have not all been told.
            CREATE TABLE ended_target (
                target_id INTEGER PRIMARY KEY,
                outcome TEXT NOT NULL
            ) STRICT;
            """)
}
