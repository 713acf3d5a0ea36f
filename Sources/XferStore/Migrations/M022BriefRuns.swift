extension Migration {
    /// Adds the files that brief runs are about to publish. They have no transfer that could hold the intent.
    static let briefRuns = Migration(
        name: "brief runs",
        sql: """
            CREATE TABLE brief_intent (
                task_id INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                born_at INTEGER,
                generation INTEGER,
                length INTEGER NOT NULL,
                modified_at INTEGER NOT NULL,
                changed_at INTEGER NOT NULL,
                digest TEXT
            ) STRICT;
            """)
}
