extension FleetMigration {
    /// Adds. Lanes come as arrays of their own, because many tasks share one.
    static let adding = FleetMigration(
        name: "adding",
        statements: [
            """
            CREATE FUNCTION fleet_add(
                l_priorities smallint[], l_owners text[], l_groups text[], l_hosts text[], l_places text[],
                t_lanes integer[], t_keys text[], t_prints text[], t_heads boolean[], t_due bigint[],
                t_repeatable boolean[], t_paused boolean[], t_batches bigint[], t_labels text[], t_specs text[],
                t_summaries text[])
            RETURNS TABLE (ordinal bigint, task bigint, outcome text) \(settings) AS $$
            #variable_conflict use_column
            DECLARE
                v_lanes bigint[] := '{}';
                v_owner_ids bigint[] := '{}';
                v_lane bigint;
                v_owner bigint;
                r record;
                v_known bigint[];
                v_ids bigint[];
                v_added bigint[];
                v_owners bigint[];
                v_summaries text[];
            BEGIN
                FOR r IN SELECT * FROM unnest(l_priorities, l_owners, l_groups, l_hosts, l_places)
                    WITH ORDINALITY AS u(priority, owner, name, host, place, n) ORDER BY n
                LOOP
                    SELECT l.id, o.id INTO v_lane, v_owner FROM fleet_owner o
                    JOIN fleet_group g ON g.owner = o.id AND g.name = r.name
                    JOIN fleet_host h ON h.name = r.host
                    JOIN fleet_lane l ON l.group_id = g.id AND l.host = h.id AND l.place = r.place
                        AND l.priority = r.priority
                    WHERE o.name = r.owner;
                    IF NOT FOUND THEN
                        v_owner := fleet_owner_of(r.owner);
                        v_lane := fleet_lane_of(
                            r.priority, v_owner, fleet_group_of(v_owner, r.name), fleet_host_of(r.host), r.place);
                    END IF;
                    v_lanes := v_lanes || v_lane;
                    v_owner_ids := v_owner_ids || v_owner;
                END LOOP;

                -- The lanes before the keys, and both in their order: two adds never wait for each other.
                PERFORM 1 FROM fleet_lane l WHERE l.id = ANY (v_lanes) ORDER BY l.id FOR NO KEY UPDATE;
                WITH items AS (
                    SELECT u.*, v_lanes[u.lane] AS lane_id, v_owner_ids[u.lane] AS owner_id
                    FROM unnest(t_lanes, t_keys, t_prints, t_due, t_repeatable, t_batches, t_labels, t_specs,
                            t_summaries)
                        WITH ORDINALITY AS u(lane, key, print, due, repeatable, batch, label, spec, summary, n)
                ), fresh AS (
                    SELECT i.*, nextval('fleet_task_id_seq') AS id FROM (
                        SELECT * FROM items i WHERE i.key IS NULL OR NOT EXISTS (
                            SELECT 1 FROM fleet_task t WHERE t.owner = i.owner_id AND t.client_key = i.key)
                        ORDER BY i.n
                    ) i
                ), inserted AS (
                    INSERT INTO fleet_task AS t (
                        id, owner, client_key, fingerprint, lane, not_before, is_repeatable, batch, label, spec)
                    SELECT f.id, f.owner_id, f.key, f.print, f.lane_id,
                        timestamptz 'epoch' + f.due * interval '1 microsecond', f.repeatable, f.batch, f.label, f.spec
                    FROM fresh f ORDER BY f.owner_id, f.key
                    ON CONFLICT (owner, client_key) DO NOTHING RETURNING t.id
                )
                SELECT array_agg(f.n ORDER BY f.n), array_agg(f.id ORDER BY f.n), array_agg(f.owner_id ORDER BY f.n),
                    array_agg(f.summary ORDER BY f.n)
                INTO v_known, v_ids, v_owners, v_summaries
                FROM fresh f JOIN inserted i ON i.id = f.id;

                IF v_ids IS NOT NULL THEN
                    INSERT INTO fleet_paused (task, attempt)
                    SELECT u.id, 0 FROM unnest(v_known, v_ids) AS u(n, id) WHERE t_paused[u.n];
                    INSERT INTO fleet_delayed (task, due)
                    SELECT u.id, t.not_before FROM unnest(v_known, v_ids) AS u(n, id) JOIN fleet_task t ON t.id = u.id
                    WHERE NOT t_paused[u.n] AND t.not_before > now();
                    v_added := ARRAY(SELECT u.id FROM unnest(v_known, v_ids) AS u(n, id) JOIN fleet_task t ON t.id = u.id
                        WHERE NOT t_paused[u.n] AND NOT t_heads[u.n] AND coalesce(t.not_before <= now(), true)
                        ORDER BY u.n);
                    PERFORM fleet_enqueue(v_added, array_fill(0, ARRAY[cardinality(v_added)]), NULL, false);
                    -- The last one goes first.
                    v_added := ARRAY(SELECT u.id FROM unnest(v_known, v_ids) AS u(n, id) JOIN fleet_task t ON t.id = u.id
                        WHERE NOT t_paused[u.n] AND t_heads[u.n] AND coalesce(t.not_before <= now(), true)
                        ORDER BY u.n DESC);
                    PERFORM fleet_enqueue(v_added, array_fill(0, ARRAY[cardinality(v_added)]), NULL, true);
                    PERFORM fleet_tell('added', NULL, v_ids, v_owners, v_summaries);
                END IF;

                RETURN QUERY SELECT u.n, u.id, 'added'::text FROM unnest(v_known, v_ids) AS u(n, id);
                RETURN QUERY
                SELECT i.n, t.id, CASE WHEN t.fingerprint = i.print THEN 'existing' ELSE 'conflict' END
                FROM unnest(t_lanes, t_keys, t_prints) WITH ORDINALITY AS i(lane, key, print, n)
                JOIN fleet_task t ON t.owner = v_owner_ids[i.lane] AND t.client_key = i.key
                WHERE v_known IS NULL OR i.n <> ALL (v_known);
            END $$
            """,
            // Delayed tasks whose time has come.
            """
            CREATE FUNCTION fleet_wake(a_limit integer) RETURNS bigint \(settings) AS $$
            DECLARE v_tasks bigint[];
            BEGIN
                WITH due AS (
                    SELECT d.task FROM fleet_delayed d WHERE d.due <= now() ORDER BY d.due, d.task LIMIT a_limit
                    FOR UPDATE SKIP LOCKED
                ), gone AS (
                    DELETE FROM fleet_delayed d USING due WHERE d.task = due.task RETURNING d.task, d.due
                )
                SELECT array_agg(g.task ORDER BY g.due, g.task) INTO v_tasks FROM gone g;
                IF v_tasks IS NULL THEN RETURN 0; END IF;
                PERFORM fleet_enqueue(v_tasks, array_fill(0, ARRAY[cardinality(v_tasks)]), NULL, false);
                RETURN cardinality(v_tasks);
            END $$
            """,
        ])
}
