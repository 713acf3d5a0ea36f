extension Migration {
    /// Staged files, published files, and hooks that still have to run.
    static let stagingAndHooks = Migration(
        name: "staging and hooks",
        sql: """
            -- Goes with its transfer, not with its task: what lies on the disk has to be found after the task is forgotten.
            CREATE TABLE ready_file (
                task_id INTEGER PRIMARY KEY,
                transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
                name TEXT NOT NULL,
                final_name TEXT NOT NULL,
                is_processed INTEGER NOT NULL,
                -- Null while a hook works on it.
                device INTEGER,
                inode INTEGER,
                length INTEGER,
                modified_at INTEGER,
                changed_at INTEGER,
                digest TEXT
            ) STRICT;
            CREATE INDEX ready_file_transfer ON ready_file (transfer_id);

            -- By which a task's file is known again.
            CREATE TABLE published_file (
                task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                length INTEGER NOT NULL,
                version TEXT NOT NULL
            ) STRICT;

            -- Which bytes a transfer has: those that `origin`, a transfer's id, got after it gave up others `number` times.
            -- No row is itself and never.
            CREATE TABLE transfer_version (
                transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
                origin INTEGER NOT NULL,
                number INTEGER NOT NULL
            ) STRICT;

            CREATE INDEX transfer_publishing ON transfer (id) WHERE publish_name IS NOT NULL;

            -- AUTOINCREMENT: a hook that was run and one that came after it are never mistaken for each other.
            CREATE TABLE pending_hook (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                task_id INTEGER NOT NULL,
                occasion TEXT NOT NULL,
                hook TEXT NOT NULL,
                -- The task as it ended: it may be removed or tried again meanwhile.
                path TEXT,
                description TEXT NOT NULL,
                created_at INTEGER NOT NULL
            ) STRICT;
            """)
}
