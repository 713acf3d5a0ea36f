extension FleetMigration {
    /// The tables. A task is in exactly one of `fleet_queue`, `fleet_delayed`, `fleet_paused`, `fleet_lease` and
    /// `fleet_end`: its state is where it is, and its row with the request is not written again.
    static let tables = FleetMigration(
        name: "tables",
        statements: [
            """
            CREATE TABLE fleet_meta (
                is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
                fleet text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
                schema integer NOT NULL,
                -- A program that knows fewer steps must not touch these tables.
                minimum integer NOT NULL,
                -- The oldest event that is kept.
                oldest_event bigint NOT NULL DEFAULT 1,
                -- Bytes per second of all nodes together; 0 is unlimited.
                receive_rate bigint NOT NULL DEFAULT 0,
                send_rate bigint NOT NULL DEFAULT 0
            )
            """,
            """
            CREATE TABLE fleet_node (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text NOT NULL UNIQUE,
                incarnation bigint NOT NULL,
                -- The local daemon's last event whose effects are in these tables.
                applied bigint NOT NULL DEFAULT 0,
                store_id text NOT NULL,
                places text[] NOT NULL,
                labels text[] NOT NULL,
                slots integer NOT NULL,
                digests text[] NOT NULL,
                version text NOT NULL,
                is_draining boolean NOT NULL DEFAULT false,
                is_down boolean NOT NULL DEFAULT false,
                -- Its leases are decided on.
                is_settled boolean NOT NULL DEFAULT true
            ) WITH (fillfactor = 40)
            """,
            // Apart from the node, so that a beat never waits for a report.
            """
            CREATE TABLE fleet_beat (
                node bigint PRIMARY KEY REFERENCES fleet_node ON DELETE CASCADE,
                -- NULL once the node is called down: the next beat hits no row.
                incarnation bigint,
                beat bigint NOT NULL,
                at timestamptz NOT NULL,
                figures text
            ) WITH (fillfactor = 40)
            """,
            // `leased` counts while there is a limit; without one no transaction writes the row.
            """
            CREATE TABLE fleet_owner (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text NOT NULL UNIQUE,
                max_active integer,
                leased integer NOT NULL DEFAULT 0
            ) WITH (fillfactor = 40)
            """,
            // The group without a name stands for tasks without a group.
            """
            CREATE TABLE fleet_group (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                owner bigint NOT NULL REFERENCES fleet_owner,
                name text NOT NULL,
                max_active integer,
                leased integer NOT NULL DEFAULT 0,
                is_paused boolean NOT NULL DEFAULT false,
                UNIQUE (owner, name)
            ) WITH (fillfactor = 40)
            """,
            """
            CREATE TABLE fleet_host (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text NOT NULL UNIQUE,
                max_active integer,
                leased integer NOT NULL DEFAULT 0,
                cooldown_until timestamptz
            ) WITH (fillfactor = 40)
            """,
            // What changes with each claim is in no index: such an update stays in its page (HOT).
            """
            CREATE TABLE fleet_lane (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                priority smallint NOT NULL,
                owner bigint NOT NULL REFERENCES fleet_owner,
                group_id bigint NOT NULL REFERENCES fleet_group,
                host bigint NOT NULL REFERENCES fleet_host,
                place text NOT NULL,
                is_open boolean NOT NULL DEFAULT false,
                queued bigint NOT NULL DEFAULT 0,
                -- Ranks lie between these two. Both are changed under the row's lock only, so that a claim that begins at
                -- `floor` skips no insert that has not committed yet and walks over no row that was claimed before.
                floor bigint NOT NULL DEFAULT 0,
                last_rank bigint NOT NULL DEFAULT -1,
                UNIQUE (group_id, host, place, priority)
            ) WITH (fillfactor = 40)
            """,
            "CREATE INDEX fleet_lane_open ON fleet_lane (priority, id) WHERE is_open",
            """
            CREATE TABLE fleet_batch (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                owner bigint NOT NULL REFERENCES fleet_owner,
                name text,
                client_key text,
                fingerprint text NOT NULL,
                created_at timestamptz NOT NULL DEFAULT now(),
                UNIQUE (owner, client_key)
            )
            """,
            """
            CREATE TABLE fleet_task (
                id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
                owner bigint NOT NULL REFERENCES fleet_owner,
                client_key text,
                fingerprint text NOT NULL,
                lane bigint NOT NULL,
                -- In the lane, if it is queued.
                rank bigint NOT NULL DEFAULT 0,
                not_before timestamptz,
                is_repeatable boolean NOT NULL,
                batch bigint REFERENCES fleet_batch,
                label text,
                added_at timestamptz NOT NULL DEFAULT now(),
                spec text NOT NULL,
                limits text,
                UNIQUE (owner, client_key)
            )
            """,
            "CREATE INDEX fleet_task_batch ON fleet_task (batch, id) WHERE batch IS NOT NULL",
            """
            CREATE TABLE fleet_queue (
                lane bigint NOT NULL,
                rank bigint NOT NULL,
                task bigint NOT NULL,
                attempt integer NOT NULL DEFAULT 0,
                queued_at timestamptz NOT NULL DEFAULT now(),
                reason text,
                -- Some node has declined it; `fleet_declined` says which.
                is_declined boolean NOT NULL DEFAULT false,
                PRIMARY KEY (lane, rank)
            )
            """,
            """
            CREATE TABLE fleet_declined (
                task bigint NOT NULL,
                node bigint NOT NULL,
                reason text NOT NULL,
                PRIMARY KEY (task, node)
            )
            """,
            "CREATE TABLE fleet_delayed (task bigint PRIMARY KEY, due timestamptz NOT NULL)",
            "CREATE INDEX fleet_delayed_due ON fleet_delayed (due)",
            """
            CREATE TABLE fleet_paused (
                task bigint PRIMARY KEY,
                attempt integer NOT NULL,
                reason text,
                at timestamptz NOT NULL DEFAULT now()
            )
            """,
            """
            CREATE TABLE fleet_lease (
                task bigint PRIMARY KEY,
                node bigint NOT NULL,
                claim uuid NOT NULL,
                lane bigint NOT NULL,
                attempt integer NOT NULL,
                has_begun boolean NOT NULL DEFAULT false,
                is_cancelling boolean NOT NULL DEFAULT false
            ) WITH (fillfactor = 80)
            """,
            "CREATE INDEX fleet_lease_node ON fleet_lease (node, task)",
            """
            CREATE TABLE fleet_end (
                task bigint PRIMARY KEY,
                state text NOT NULL,
                ended_at timestamptz NOT NULL DEFAULT now(),
                attempt integer NOT NULL,
                node text,
                detail text NOT NULL
            )
            """,
            "CREATE INDEX fleet_end_state ON fleet_end (state, ended_at)",
            "CREATE TABLE fleet_result (task bigint PRIMARY KEY, body bytea NOT NULL)",
            """
            CREATE TABLE fleet_wish (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                node bigint NOT NULL,
                task bigint NOT NULL,
                claim uuid NOT NULL,
                wish text NOT NULL,
                argument text
            )
            """,
            "CREATE INDEX fleet_wish_node ON fleet_wish (node, id)",
            // Gapless and in the order of commits: see `fleet_tell`.
            """
            CREATE TABLE fleet_event (
                seq bigint PRIMARY KEY,
                at timestamptz NOT NULL,
                kind text NOT NULL,
                task bigint,
                owner bigint,
                node text,
                detail text NOT NULL
            )
            """,
            "CREATE UNLOGGED TABLE fleet_progress (task bigint PRIMARY KEY, received bigint NOT NULL, total bigint)",
            "INSERT INTO fleet_event VALUES (1, clock_timestamp(), 'fleet_created', NULL, NULL, NULL, '{}')",
        ])
}
