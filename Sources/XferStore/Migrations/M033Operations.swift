extension Migration {
    /// Verbs over filters that the service carries out in the background.
    static let operations = Migration(
        name: "operations",
        sql: """
            CREATE TABLE operation (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                owner INTEGER NOT NULL,
                is_operator INTEGER NOT NULL,
                verb TEXT NOT NULL,
                deletes_files INTEGER NOT NULL DEFAULT 0,
                filter TEXT NOT NULL,
                last_task INTEGER NOT NULL,
                reached_task INTEGER NOT NULL DEFAULT 0,
                changed INTEGER NOT NULL DEFAULT 0,
                unchanged INTEGER NOT NULL DEFAULT 0,
                refused INTEGER NOT NULL DEFAULT 0,
                files_deleted INTEGER NOT NULL DEFAULT 0,
                files_kept INTEGER NOT NULL DEFAULT 0,
                report TEXT,
                state TEXT NOT NULL,
                error TEXT,
                created_at INTEGER NOT NULL,
                reported_at INTEGER,
                ended_at INTEGER
            ) STRICT;
            CREATE INDEX operation_owner ON operation (owner, id);
            CREATE INDEX operation_running ON operation (owner, id) WHERE ended_at IS NULL;
            CREATE INDEX operation_ended ON operation (ended_at) WHERE ended_at IS NOT NULL;
            """)
}
