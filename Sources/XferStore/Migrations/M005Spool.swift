extension Migration {
    /// Copies of files that are to be sent, and how long responses have been kept.
    static let spool = Migration(
        name: "spool",
        sql: """
            ALTER TABLE task_result ADD COLUMN kept_at INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX task_result_kept ON task_result (kept_at);

            -- A file of the spool directory that a task sends in place of the one its client named.
            CREATE TABLE spooled_source (
                name TEXT PRIMARY KEY,
                task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX spooled_source_task ON spooled_source (task_id);
            """)
}
