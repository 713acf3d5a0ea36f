extension Migration {
    /// Counts the bytes that are kept for the tasks of each user, so that users can have a limit.
    static let storedBytes = Migration(
        name: "stored bytes",
        sql: """
            -- What a task keeps in the database and in the spool directory beyond a short row: 'body', 'result', 'row'.
            CREATE TABLE task_bytes (
                task_id INTEGER NOT NULL,
                kind TEXT NOT NULL,
                owner INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                PRIMARY KEY (task_id, kind)
            ) STRICT, WITHOUT ROWID;
            -- The sums of task_bytes.
            CREATE TABLE owner_bytes (
                owner INTEGER PRIMARY KEY,
                bytes INTEGER NOT NULL
            ) STRICT;
            CREATE TRIGGER task_bytes_added AFTER INSERT ON task_bytes BEGIN
                INSERT INTO owner_bytes (owner, bytes) VALUES (NEW.owner, NEW.bytes)
                    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER task_bytes_changed AFTER UPDATE OF bytes ON task_bytes BEGIN
                UPDATE owner_bytes SET bytes = bytes + NEW.bytes - OLD.bytes WHERE owner = NEW.owner;
            END;
            CREATE TRIGGER task_bytes_removed AFTER DELETE ON task_bytes BEGIN
                UPDATE owner_bytes SET bytes = bytes - OLD.bytes WHERE owner = OLD.owner;
            END;
            INSERT INTO task_bytes (task_id, kind, owner, bytes)
                SELECT task.id, 'body', task.owner, length(CAST(body AS BLOB))
                FROM request_body JOIN task ON task.id = task_id WHERE length(CAST(body AS BLOB)) >= 1024;
            INSERT INTO task_bytes (task_id, kind, owner, bytes)
                SELECT task.id, 'result', task.owner, length
                FROM task_result JOIN task ON task.id = task_id WHERE length >= 4096;
            """)
}
