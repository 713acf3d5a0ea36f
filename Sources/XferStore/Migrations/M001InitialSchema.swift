extension Migration {
    /// Tasks, their queue, transfers with their segments, reservations, events and settings.
    ///
    /// Times are microseconds since 1970. `task`'s columns are read by position (`TaskColumn`): add new ones at its end.
    static let initialSchema = Migration(
        name: "initial schema",
        sql: """
            CREATE TABLE migration (
                number INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                applied_at TEXT NOT NULL DEFAULT (datetime())
            ) STRICT;

            CREATE TABLE store (id TEXT NOT NULL) STRICT;
            INSERT INTO store (id) VALUES (lower(hex(randomblob(16))));

            CREATE TABLE setting (
                key TEXT NOT NULL PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE transfer (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                directory TEXT NOT NULL,
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                etag TEXT,
                last_modified TEXT,
                date TEXT,
                total_length INTEGER,
                content_encoding TEXT,
                final_url TEXT,
                selecting_headers TEXT,
                publish_name TEXT,
                publish_device INTEGER,
                publish_inode INTEGER,
                created_at INTEGER NOT NULL,
                -- The beginning of the id of the database that made it: part of the partial file's name.
                tag TEXT NOT NULL
            ) STRICT;

            CREATE TABLE segment (
                transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
                start INTEGER NOT NULL,
                "end" INTEGER,
                committed INTEGER NOT NULL,
                PRIMARY KEY (transfer_id, start)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE task (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                owner INTEGER NOT NULL,
                kind TEXT NOT NULL,
                state TEXT NOT NULL,
                wait_reason TEXT,
                wait_until INTEGER,
                priority INTEGER NOT NULL,
                host TEXT NOT NULL,
                group_name TEXT,
                label TEXT,
                -- Set by a move; the index takes the rank an untouched task has from its id.
                moved_rank INTEGER,
                rank INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(moved_rank, id << 20)) VIRTUAL,
                client_key TEXT,
                -- Of what the add with that key asked for.
                fingerprint INTEGER,
                transfer_id INTEGER REFERENCES transfer (id) ON DELETE SET NULL,
                received INTEGER NOT NULL DEFAULT 0,
                total INTEGER,
                attempts INTEGER NOT NULL DEFAULT 0,
                created_at INTEGER NOT NULL,
                started_at INTEGER,
                finished_at INTEGER,
                last_progress_at INTEGER,
                url TEXT NOT NULL,
                directory TEXT NOT NULL,
                name TEXT,
                checksum TEXT,
                options TEXT,
                meta TEXT,
                error_reason TEXT,
                error TEXT,
                final_path TEXT,
                final_url TEXT,
                http_status INTEGER,
                etag TEXT,
                content_encoding TEXT,
                skipped INTEGER NOT NULL DEFAULT 0,
                not_modified INTEGER NOT NULL DEFAULT 0,
                response_headers TEXT,
                -- The furthest committed offset ever: going past it is progress.
                furthest INTEGER NOT NULL DEFAULT 0,
                directory_device INTEGER,
                directory_inode INTEGER
            ) STRICT;

            CREATE INDEX task_state ON task (state);
            CREATE INDEX task_owner ON task (owner);
            CREATE INDEX task_host ON task (host);
            CREATE INDEX task_group ON task (group_name) WHERE group_name IS NOT NULL;
            CREATE INDEX task_label ON task (label) WHERE label IS NOT NULL;
            CREATE UNIQUE INDEX task_client_key ON task (owner, client_key) WHERE client_key IS NOT NULL;
            CREATE INDEX task_queue ON task (priority, host, rank) WHERE state = 'queued';
            CREATE INDEX task_timer ON task (wait_until) WHERE wait_until IS NOT NULL;
            CREATE INDEX task_wait ON task (wait_reason) WHERE wait_reason IS NOT NULL;
            CREATE INDEX task_transfer ON task (transfer_id) WHERE transfer_id IS NOT NULL;
            CREATE INDEX task_finished ON task (finished_at) WHERE state IN ('completed', 'failed', 'cancelled');
            CREATE INDEX task_published ON task (final_path) WHERE state = 'completed' AND final_path IS NOT NULL;
            CREATE INDEX task_keeping_bytes ON task (finished_at) WHERE state = 'failed' AND transfer_id IS NOT NULL;

            -- One row per host and priority with queued tasks; `turn` is the place in the rotation.
            CREATE TABLE host_queue (
                priority INTEGER NOT NULL,
                host TEXT NOT NULL,
                queued INTEGER NOT NULL,
                turn INTEGER NOT NULL,
                cooling INTEGER NOT NULL,
                PRIMARY KEY (priority, host)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX host_turn ON host_queue (priority, cooling, turn);

            CREATE TABLE host_cooldown (
                host TEXT NOT NULL PRIMARY KEY,
                until INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX cooldown_until ON host_cooldown (until);

            -- owner -1: everybody's; group_name '': all groups and none.
            CREATE TABLE task_count (
                owner INTEGER NOT NULL,
                group_name TEXT NOT NULL,
                state TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (owner, group_name, state)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE reservation (
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                name TEXT NOT NULL,
                task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
                PRIMARY KEY (device, inode, name)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX reservation_task ON reservation (task_id);

            CREATE TABLE event (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                time INTEGER NOT NULL,
                type TEXT NOT NULL,
                task_id INTEGER,
                owner INTEGER,
                payload TEXT NOT NULL
            ) STRICT;
            CREATE INDEX event_task ON event (task_id) WHERE task_id IS NOT NULL;
            """)
}
