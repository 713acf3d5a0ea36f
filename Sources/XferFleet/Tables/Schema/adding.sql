-- Adds. Lanes come as arrays of their own, because many tasks share one.

CREATE FUNCTION fleet_add(
    l_priorities smallint[], l_owners text[], l_groups text[], l_hosts text[], l_places text[],
    t_lanes integer[], t_keys text[], t_prints text[], t_heads boolean[], t_due bigint[],
    t_repeatable boolean[], t_paused boolean[], t_batches bigint[], t_labels text[], t_specs text[],
    t_summaries text[])
RETURNS TABLE (ordinal bigint, task bigint, outcome text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_lanes bigint[] := '{}';
    v_owner_ids bigint[] := '{}';
    v_lane bigint;
    v_owner bigint;
    r record;
    v_known bigint[];
    v_ids bigint[];
    v_owners bigint[];
    v_summaries text[];
    v_states text[];
    v_ranks bigint[];
    v_floors bigint[];
    v_lasts bigint[];
    v_due timestamptz[];
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
    SELECT array_agg(l.floor ORDER BY u.n), array_agg(l.last_rank ORDER BY u.n) INTO v_floors, v_lasts
    FROM unnest(v_lanes) WITH ORDINALITY AS u(id, n) JOIN fleet_lane l ON l.id = u.id;
    -- A task's row is written once, with its rank. The rank of a key that another add has inserted meanwhile
    -- stays free.
    WITH items AS (
        SELECT u.*, v_lanes[u.lane] AS lane_id, v_owner_ids[u.lane] AS owner_id,
            timestamptz 'epoch' + u.due * interval '1 microsecond' AS not_before
        FROM unnest(t_lanes, t_keys, t_prints, t_heads, t_due, t_repeatable, t_paused, t_batches, t_labels,
                t_specs, t_summaries)
            WITH ORDINALITY AS u(lane, key, print, head, due, repeatable, paused, batch, label, spec,
                summary, n)
    ), fresh AS (
        SELECT i.*, nextval('fleet_task_id_seq') AS id,
            CASE WHEN i.paused THEN 'paused' WHEN i.not_before > now() THEN 'delayed' ELSE 'queued' END
                AS state
        FROM (
            SELECT * FROM items i WHERE i.key IS NULL OR NOT EXISTS (
                SELECT 1 FROM fleet_task t WHERE t.owner = i.owner_id AND t.client_key = i.key)
            ORDER BY i.n
        ) i
    ), ranked AS (
        -- At the head the last one goes first.
        SELECT f.*, CASE WHEN f.state <> 'queued' THEN 0 WHEN f.head THEN v_floors[f.lane] - f.k
            ELSE v_lasts[f.lane] + f.k END AS rank
        FROM (
            SELECT f.*, row_number() OVER (PARTITION BY f.lane_id, f.state, f.head ORDER BY f.n) AS k
            FROM fresh f
        ) f
    ), inserted AS (
        INSERT INTO fleet_task AS t (
            id, owner, client_key, fingerprint, lane, rank, not_before, is_repeatable, batch, label, spec)
        SELECT r.id, r.owner_id, r.key, r.print, r.lane_id, r.rank, r.not_before, r.repeatable, r.batch,
            r.label, r.spec
        FROM ranked r ORDER BY r.owner_id, r.key
        ON CONFLICT (owner, client_key) DO NOTHING RETURNING t.id
    )
    SELECT array_agg(r.n ORDER BY r.n), array_agg(r.id ORDER BY r.n), array_agg(r.owner_id ORDER BY r.n),
        array_agg(r.summary ORDER BY r.n), array_agg(r.state ORDER BY r.n),
        array_agg(r.lane_id ORDER BY r.n), array_agg(r.rank ORDER BY r.n),
        array_agg(r.not_before ORDER BY r.n)
    INTO v_known, v_ids, v_owners, v_summaries, v_states, v_lanes, v_ranks, v_due
    -- IS TRUE keeps the planner from making a join of it: a nested loop over a million pairs.
    FROM ranked r WHERE (r.id IN (SELECT i.id FROM inserted i)) IS TRUE;

    IF v_ids IS NOT NULL THEN
        INSERT INTO fleet_paused (task, attempt)
        SELECT u.id, 0 FROM unnest(v_ids, v_states) AS u(id, state) WHERE u.state = 'paused';
        INSERT INTO fleet_delayed (task, due)
        SELECT u.id, u.due FROM unnest(v_ids, v_states, v_due) AS u(id, state, due)
        WHERE u.state = 'delayed';
        INSERT INTO fleet_queue (lane, rank, task)
        SELECT u.lane, u.rank, u.id FROM unnest(v_ids, v_states, v_lanes, v_ranks)
            AS u(id, state, lane, rank) WHERE u.state = 'queued';
        UPDATE fleet_lane l SET queued = l.queued + c.n, is_open = true,
            floor = least(l.floor, c.first), last_rank = greatest(l.last_rank, c.last)
        FROM (
            SELECT u.lane, count(*) AS n, min(u.rank) AS first, max(u.rank) AS last
            FROM unnest(v_states, v_lanes, v_ranks) AS u(state, lane, rank)
            WHERE u.state = 'queued' GROUP BY u.lane
        ) c WHERE l.id = c.lane;
        PERFORM fleet_tell('added', NULL, v_ids, v_owners, v_summaries);
    END IF;

    RETURN QUERY SELECT u.n, u.id, 'added'::text FROM unnest(v_known, v_ids) AS u(n, id);
    IF cardinality(v_known) = cardinality(t_lanes) THEN RETURN; END IF;
    RETURN QUERY
    SELECT i.n, t.id, CASE WHEN t.fingerprint = i.print THEN 'existing' ELSE 'conflict' END
    FROM unnest(t_lanes, t_keys, t_prints) WITH ORDINALITY AS i(lane, key, print, n)
    JOIN fleet_task t ON t.owner = v_owner_ids[i.lane] AND t.client_key = i.key
    WHERE v_known IS NULL OR i.n <> ALL (v_known);
END $$;

-- Delayed tasks whose time has come.
CREATE FUNCTION fleet_wake(a_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
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
END $$;
