extension Migration {
    /// Groups with a pause and a limit of their own, and batches.
    static let groupsAndBatches = Migration(
        name: "groups and batches",
        sql: """
            -- One row per group that has tasks, or for which something is set. AUTOINCREMENT: what is left of a group
            -- never becomes another one's.
            CREATE TABLE queue_group (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                owner INTEGER NOT NULL,
                name TEXT NOT NULL,
                max_active INTEGER,
                -- Bytes per second over its transfers.
                max_recv_rate INTEGER,
                max_send_rate INTEGER,
                paused INTEGER NOT NULL DEFAULT 0,
                -- Of the batch it was made for.
                batch_id INTEGER,
                UNIQUE (owner, name)
            ) STRICT;

            CREATE INDEX group_paused ON queue_group (id) WHERE paused = 1;
            CREATE INDEX group_limited ON queue_group (id)
                WHERE max_recv_rate IS NOT NULL OR max_send_rate IS NOT NULL;

            CREATE TABLE batch (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                owner INTEGER NOT NULL,
                group_name TEXT NOT NULL,
                client_key TEXT,
                -- Of what the add with that key asked for.
                fingerprint INTEGER,
                -- Null while its members are being added.
                total INTEGER,
                -- Members whose rows were removed after they failed.
                removed_failed INTEGER NOT NULL DEFAULT 0,
                -- The entries that were refused, as they were answered: JSON.
                refused TEXT,
                created_at INTEGER NOT NULL,
                completed_at INTEGER
            ) STRICT;
            CREATE UNIQUE INDEX batch_client_key ON batch (owner, client_key) WHERE client_key IS NOT NULL;
            CREATE INDEX batch_completed ON batch (completed_at) WHERE completed_at IS NOT NULL;

            CREATE TABLE batch_count (
                batch_id INTEGER NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
                state TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (batch_id, state)
            ) STRICT, WITHOUT ROWID;

            -- The row of the group; 0 is none. The scheduler's lanes are kept apart by it.
            ALTER TABLE task ADD COLUMN group_id INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE task ADD COLUMN batch_id INTEGER;
            INSERT INTO queue_group (owner, name)
                SELECT DISTINCT owner, group_name FROM task WHERE group_name IS NOT NULL ORDER BY 1, 2;
            UPDATE task SET group_id =
                    (SELECT id FROM queue_group WHERE owner = task.owner AND name = task.group_name)
                WHERE group_name IS NOT NULL;
            CREATE INDEX task_group_id ON task (group_id) WHERE group_id <> 0;
            CREATE INDEX task_batch ON task (batch_id) WHERE batch_id IS NOT NULL;
            DROP INDEX task_queue;
            CREATE INDEX task_queue ON task (priority, group_id, host, rank) WHERE state = 'queued';

            -- The last turn that was given, by priority.
            CREATE TABLE rotation (
                priority INTEGER PRIMARY KEY,
                last INTEGER NOT NULL
            ) STRICT;
            INSERT INTO rotation (priority, last) SELECT priority, max(turn) FROM host_queue GROUP BY priority;

            -- One row per lane: host, group and priority with queued tasks; `turn` is the place in the rotation.
            ALTER TABLE host_queue RENAME TO old_host_queue;
            DROP INDEX host_turn;
            CREATE TABLE host_queue (
                priority INTEGER NOT NULL,
                group_id INTEGER NOT NULL,
                host TEXT NOT NULL,
                queued INTEGER NOT NULL,
                turn INTEGER NOT NULL,
                cooling INTEGER NOT NULL,
                PRIMARY KEY (priority, group_id, host)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO host_queue (priority, group_id, host, queued, turn, cooling)
                SELECT task.priority, task.group_id, task.host, count(*), min(old.turn), min(old.cooling)
                FROM task JOIN old_host_queue old ON old.priority = task.priority AND old.host = task.host
                WHERE task.state = 'queued' GROUP BY 1, 2, 3;
            DROP TABLE old_host_queue;
            CREATE INDEX host_turn ON host_queue (priority, group_id, cooling, turn);
            CREATE INDEX host_lane ON host_queue (host);

            -- One row per group and priority with queued tasks. `turn` is that of its first lane that is not cooling
            -- down, null without one; `held` while the group is paused; `only_host` where it has one lane, else ''.
            CREATE TABLE group_queue (
                priority INTEGER NOT NULL,
                group_id INTEGER NOT NULL,
                held INTEGER NOT NULL,
                turn INTEGER,
                only_host TEXT NOT NULL,
                PRIMARY KEY (priority, group_id)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO group_queue (priority, group_id, held, turn, only_host)
                SELECT priority, group_id, 0, min(turn) FILTER (WHERE cooling = 0),
                    CASE count(*) WHEN 1 THEN min(host) ELSE '' END
                FROM host_queue GROUP BY 1, 2;
            CREATE INDEX group_turn ON group_queue (priority, held, only_host, turn);

            -- One row per host that is the only one of groups which are not held: the first turn among them, so that a
            -- blocked host is passed over with all of them.
            CREATE TABLE only_host_queue (
                priority INTEGER NOT NULL,
                host TEXT NOT NULL,
                turn INTEGER NOT NULL,
                PRIMARY KEY (priority, host)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO only_host_queue (priority, host, turn)
                SELECT priority, only_host, min(turn) FROM group_queue
                WHERE only_host <> '' AND turn IS NOT NULL GROUP BY 1, 2;
            CREATE INDEX only_host_turn ON only_host_queue (priority, turn);
            """)
}
