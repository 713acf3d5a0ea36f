extension Migration {
    /// Slots of tasks, and the URLs that failed for good.
    static let slotsAndFailedURLs = Migration(
        name: "slots and failed URLs",
        sql: """
            ALTER TABLE task ADD COLUMN slot TEXT;
            CREATE INDEX task_slot ON task (slot) WHERE slot IS NOT NULL;
            -- Who is in a slot now.
            CREATE INDEX task_in_slot ON task (owner, slot)
                WHERE slot IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');

            -- The key of the digests that tell requests apart. A new database has another one.
            ALTER TABLE store ADD COLUMN digest_key BLOB;
            UPDATE store SET digest_key = randomblob(32);

            -- AUTOINCREMENT: ids tell which failed last, and an id that was removed never means another URL.
            CREATE TABLE failed_url (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                -- Digest of the coalesce key.
                key BLOB NOT NULL UNIQUE,
                -- Digest of the URL alone.
                url_digest BLOB NOT NULL,
                -- Redacted.
                url TEXT NOT NULL,
                method TEXT NOT NULL,
                owner INTEGER NOT NULL,
                task_id INTEGER NOT NULL,
                error TEXT NOT NULL,
                failed_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX failed_url_owner ON failed_url (owner);
            CREATE INDEX failed_url_digest ON failed_url (url_digest);
            CREATE INDEX failed_url_time ON failed_url (failed_at);
            """)
}
