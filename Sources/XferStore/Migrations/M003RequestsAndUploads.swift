extension Migration {
    /// Requests with content, responses that are kept, uploads, profiles and their cookies.
    static let requestsAndUploads = Migration(
        name: "requests and uploads",
        sql: """
            ALTER TABLE task ADD COLUMN sent INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE task ADD COLUMN profile TEXT;
            CREATE INDEX task_profile ON task (profile)
                WHERE profile IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');

            -- Beside the task's row, because it may be megabytes and listings never read it.
            CREATE TABLE request_body (
                task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
                body TEXT NOT NULL
            ) STRICT;

            -- A response that was kept: its content here, or in a file of the spool directory when it is large.
            CREATE TABLE task_result (
                task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
                length INTEGER NOT NULL,
                content BLOB,
                file_name TEXT,
                object TEXT
            ) STRICT;

            CREATE INDEX task_result_file ON task_result (file_name) WHERE file_name IS NOT NULL;

            CREATE TABLE upload (
                transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
                url TEXT NOT NULL,
                "offset" INTEGER NOT NULL,
                expires_at INTEGER,
                largest_append INTEGER
            ) STRICT;

            CREATE TABLE profile (
                name TEXT PRIMARY KEY,
                -- Written in the configuration file, not over RPC.
                is_configured INTEGER NOT NULL,
                profile TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;

            -- One row per cookie (RFC 6265 §5.3), in libcurl's text form.
            CREATE TABLE cookie (
                profile TEXT NOT NULL,
                domain TEXT NOT NULL,
                path TEXT NOT NULL,
                name TEXT NOT NULL,
                line TEXT NOT NULL,
                PRIMARY KEY (profile, domain, path, name)
            ) STRICT, WITHOUT ROWID;
            """)
}
