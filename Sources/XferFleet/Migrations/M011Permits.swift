extension FleetMigration {
    /// Nodes whose xferd has a share of the fleet's rates.
    static let shares = FleetMigration(
        name: "shares",
        statements: ["CREATE TABLE fleet_share (node bigint PRIMARY KEY REFERENCES fleet_node ON DELETE CASCADE)"])

    /// Permits to publish on shared storage. With one the lease of the same task and claim is being published; a permit
    /// whose lease was taken over is open until the next node has looked at the storage.
    static let permits = FleetMigration(
        name: "permits",
        statements: [
            """
            CREATE TABLE fleet_permit (
                task bigint NOT NULL REFERENCES fleet_task ON DELETE CASCADE,
                claim uuid NOT NULL,
                node bigint NOT NULL,
                -- Paths beneath the storage, without a leading slash; the directory is empty for the storage's own.
                storage text NOT NULL,
                directory text NOT NULL,
                part text NOT NULL,
                name text NOT NULL,
                -- Of the part, which keeps them under its final name. The bits of an unsigned number.
                inode bigint NOT NULL,
                size bigint NOT NULL,
                modified_at bigint NOT NULL,
                -- The former node may have published, and no other one has looked yet.
                is_open boolean NOT NULL DEFAULT true,
                was_cancelling boolean NOT NULL DEFAULT false,
                PRIMARY KEY (task, claim)
            )
            """,
            // Answers the tasks whose claim is void: they must not be published.
            """
            CREATE FUNCTION fleet_permit(
                a_node bigint, a_incarnation bigint, a_tasks bigint[], a_claims uuid[], a_storages text[],
                a_directories text[], a_parts text[], a_names text[], a_inodes bigint[], a_sizes bigint[],
                a_modified bigint[])
            RETURNS TABLE (lost bigint) \(settings) AS $$
            #variable_conflict use_column
            DECLARE v_given bigint[];
            BEGIN
                -- Calling the node down waits for this lock: an observer sees this permit or prevents it.
                PERFORM 1 FROM fleet_node n
                WHERE n.id = a_node AND n.incarnation = a_incarnation AND NOT n.is_down FOR KEY SHARE;
                IF NOT FOUND THEN RAISE EXCEPTION 'superseded' USING ERRCODE = 'XF001'; END IF;
                WITH given AS (
                    INSERT INTO fleet_permit AS p (
                        task, claim, node, storage, directory, part, name, inode, size, modified_at)
                    SELECT u.task, u.claim, a_node, u.storage, u.directory, u.part, u.name, u.inode, u.size, u.modified
                    FROM unnest(a_tasks, a_claims, a_storages, a_directories, a_parts, a_names, a_inodes, a_sizes,
                        a_modified)
                        AS u(task, claim, storage, directory, part, name, inode, size, modified)
                    JOIN fleet_lease l ON l.task = u.task AND l.claim = u.claim AND l.node = a_node
                    ON CONFLICT (task, claim) DO UPDATE SET part = excluded.part, name = excluded.name,
                        directory = excluded.directory, inode = excluded.inode, size = excluded.size,
                        modified_at = excluded.modified_at
                    RETURNING p.task
                ) SELECT array_agg(g.task) INTO v_given FROM given g;
                RETURN QUERY SELECT u.task FROM unnest(a_tasks) AS u(task)
                WHERE v_given IS NULL OR u.task <> ALL (v_given);
            END $$
            """,
            // The node has looked for what the former ones may have published, and found nothing.
            """
            CREATE FUNCTION fleet_close_permits(a_node bigint, a_incarnation bigint, a_tasks bigint[], a_claims uuid[])
            RETURNS TABLE (lost bigint) \(settings) AS $$
            #variable_conflict use_column
            DECLARE v_held bigint[];
            BEGIN
                PERFORM 1 FROM fleet_node n
                WHERE n.id = a_node AND n.incarnation = a_incarnation AND NOT n.is_down FOR KEY SHARE;
                IF NOT FOUND THEN RAISE EXCEPTION 'superseded' USING ERRCODE = 'XF001'; END IF;
                SELECT array_agg(l.task) INTO v_held FROM unnest(a_tasks, a_claims) AS u(task, claim)
                JOIN fleet_lease l ON l.task = u.task AND l.claim = u.claim AND l.node = a_node;
                UPDATE fleet_permit p SET is_open = false FROM unnest(a_tasks, a_claims) AS u(task, claim)
                WHERE p.task = u.task AND p.claim <> u.claim AND u.task = ANY (v_held);
                RETURN QUERY SELECT u.task FROM unnest(a_tasks) AS u(task)
                WHERE v_held IS NULL OR u.task <> ALL (v_held);
            END $$
            """,
        ])
}
