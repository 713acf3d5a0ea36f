extension Migration {
    /// Uploads of cancelled tasks whose servers still have to be asked to delete them.
    static let abandonedUploads = Migration(
        name: "abandoned uploads",
        sql: """
            -- Beside the tasks, which may be removed meanwhile: the columns from owner on are as those of task.
            CREATE TABLE abandoned_upload (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                task_id INTEGER NOT NULL,
                -- The upload resource on its server.
                upload_url TEXT NOT NULL,
                abandoned_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL DEFAULT 0,
                next_try_at INTEGER NOT NULL,
                owner INTEGER NOT NULL,
                url TEXT NOT NULL,
                options TEXT,
                policy TEXT,
                profile TEXT,
                UNIQUE (task_id, upload_url)
            ) STRICT;
            CREATE INDEX abandoned_upload_next ON abandoned_upload (next_try_at);
            """)
}
