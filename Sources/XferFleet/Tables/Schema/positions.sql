-- What all transactions do with a task's place among the tables, and how they tell of it.
-- 
-- Locks are taken in this order: node, lease and other rows of a task, lanes by id, hosts by id, groups by id, owners
-- by id, events. Claims alone take lanes out of order, and wait for none while they hold one.

-- The lock lasts until the commit, so numbers have no gap and the order of commits. The last number is read
-- from the table and not kept in a row: a row that each transaction updates would have thousands of versions
-- while a snapshot is held open.
CREATE FUNCTION fleet_tell(a_kind text, a_node text, a_tasks bigint[], a_owners bigint[], a_details text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_last bigint;
BEGIN
    IF coalesce(cardinality(a_tasks), 0) = 0 THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(8677126452);
    SELECT seq INTO v_last FROM fleet_event ORDER BY seq DESC LIMIT 1;
    INSERT INTO fleet_event (seq, at, kind, task, owner, node, detail)
    SELECT v_last + e.n, clock_timestamp(), a_kind, e.task, e.owner, a_node, coalesce(e.detail, '{}')
    FROM unnest(a_tasks, a_owners, coalesce(a_details, '{}')) WITH ORDINALITY AS e(task, owner, detail, n);
END $$;

CREATE FUNCTION fleet_owners_of(a_tasks bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(SELECT t.owner FROM unnest(a_tasks) WITH ORDINALITY AS u(task, n)
        JOIN fleet_task t ON t.id = u.task ORDER BY u.n);
END $$;

-- Puts tasks that are nowhere into their lanes.
CREATE FUNCTION fleet_enqueue(
    a_tasks bigint[], a_attempts integer[], a_reasons text[], a_head boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(cardinality(a_tasks), 0) = 0 THEN RETURN; END IF;
    PERFORM 1 FROM fleet_lane
    WHERE id = ANY (ARRAY(SELECT DISTINCT lane FROM fleet_task WHERE id = ANY (a_tasks)))
    ORDER BY id FOR NO KEY UPDATE;
    WITH items AS (
        SELECT u.task, u.attempt, u.reason, t.lane,
            row_number() OVER (PARTITION BY t.lane ORDER BY u.n) AS k,
            count(*) OVER (PARTITION BY t.lane) AS c
        FROM unnest(a_tasks, a_attempts, a_reasons) WITH ORDINALITY AS u(task, attempt, reason, n)
        JOIN fleet_task t ON t.id = u.task
    ), ranked AS (
        SELECT i.*, CASE WHEN a_head THEN l.floor - i.c + i.k - 1 ELSE l.last_rank + i.k END AS rank
        FROM items i JOIN fleet_lane l ON l.id = i.lane
    ), placed AS (
        UPDATE fleet_task t SET rank = r.rank FROM ranked r WHERE t.id = r.task
    ), widened AS (
        UPDATE fleet_lane l SET queued = l.queued + i.c, is_open = true,
            floor = CASE WHEN a_head THEN l.floor - i.c ELSE l.floor END,
            last_rank = CASE WHEN a_head THEN l.last_rank ELSE l.last_rank + i.c END
        FROM items i WHERE i.k = 1 AND l.id = i.lane
    )
    INSERT INTO fleet_queue (lane, rank, task, attempt, reason, is_declined)
    SELECT r.lane, r.rank, r.task, r.attempt, r.reason,
        EXISTS (SELECT 1 FROM fleet_declined d WHERE d.task = r.task)
    FROM ranked r;
END $$;

-- Takes tasks out of where they wait. A task that is not where the caller saw it is left alone.
CREATE FUNCTION fleet_withdraw(a_tasks bigint[], a_states text[])
RETURNS TABLE (task bigint, state text, attempt integer, due timestamptz, reason text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_queued bigint[] := ARRAY(
        SELECT u.task FROM unnest(a_tasks, a_states) AS u(task, state) WHERE u.state = 'queued');
    v_lanes bigint[];
BEGIN
    RETURN QUERY DELETE FROM fleet_delayed d USING unnest(a_tasks, a_states) AS u(task, state)
        WHERE u.state = 'delayed' AND d.task = u.task
        RETURNING d.task, 'delayed', 0, d.due, NULL::text;
    RETURN QUERY DELETE FROM fleet_paused p USING unnest(a_tasks, a_states) AS u(task, state)
        WHERE u.state = 'paused' AND p.task = u.task
        RETURNING p.task, 'paused', p.attempt, NULL::timestamptz, p.reason;
    IF cardinality(v_queued) = 0 THEN RETURN; END IF;
    v_lanes := ARRAY(SELECT DISTINCT t.lane FROM fleet_task t WHERE t.id = ANY (v_queued));
    PERFORM 1 FROM fleet_lane l WHERE l.id = ANY (v_lanes) ORDER BY l.id FOR NO KEY UPDATE;
    RETURN QUERY WITH gone AS (
        DELETE FROM fleet_queue q USING unnest(v_queued) AS u(task), fleet_task t
        WHERE t.id = u.task AND t.lane = ANY (v_lanes)
            AND q.lane = t.lane AND q.rank = t.rank AND q.task = t.id
        RETURNING q.task, q.lane, q.attempt, q.reason
    ), narrowed AS (
        UPDATE fleet_lane l SET queued = l.queued - c.n, is_open = l.queued > c.n
        FROM (SELECT g.lane, count(*) AS n FROM gone g GROUP BY g.lane) c WHERE l.id = c.lane
    )
    SELECT g.task, 'queued'::text, g.attempt, NULL::timestamptz, g.reason FROM gone g;
END $$;

-- Tasks that are nowhere have ended. The detail is JSON text.
CREATE FUNCTION fleet_finish(
    a_tasks bigint[], a_attempts integer[], a_states text[], a_details text[], a_node text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(cardinality(a_tasks), 0) = 0 THEN RETURN; END IF;
    INSERT INTO fleet_end (task, state, attempt, node, detail)
    SELECT u.task, u.state, u.attempt, a_node, u.detail
    FROM unnest(a_tasks, a_attempts, a_states, a_details) AS u(task, attempt, state, detail);
    DELETE FROM fleet_declined WHERE task = ANY (a_tasks);
    PERFORM fleet_tell('ended', a_node, a_tasks, fleet_owners_of(a_tasks), ARRAY(
        SELECT '{"state":"' || u.state || '","detail":' || u.detail || '}'
        FROM unnest(a_states, a_details) WITH ORDINALITY AS u(state, detail, n) ORDER BY u.n));
END $$;

-- Lowers the counts of leases that are gone, one lane for each.
CREATE FUNCTION fleet_uncount(a_lanes bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    l_hosts bigint[];
    l_groups bigint[];
    l_owners bigint[];
    l_counts bigint[];
BEGIN
    -- Each lane is read once: while a snapshot is held, a lookup walks over all its versions.
    SELECT array_agg(l.host), array_agg(l.group_id), array_agg(l.owner), array_agg(c.n)
    INTO l_hosts, l_groups, l_owners, l_counts
    FROM (SELECT u.lane, count(*) AS n FROM unnest(a_lanes) AS u(lane) GROUP BY u.lane) c
    JOIN fleet_lane l ON l.id = c.lane;
    PERFORM 1 FROM fleet_host WHERE max_active IS NOT NULL AND id = ANY (l_hosts)
    ORDER BY id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE fleet_host h SET leased = h.leased - c.n FROM (
            SELECT u.host, sum(u.n) AS n FROM unnest(l_hosts, l_counts) AS u(host, n) GROUP BY u.host
        ) c WHERE h.id = c.host AND h.max_active IS NOT NULL;
    END IF;
    PERFORM 1 FROM fleet_group WHERE max_active IS NOT NULL AND id = ANY (l_groups)
    ORDER BY id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE fleet_group g SET leased = g.leased - c.n FROM (
            SELECT u.group_id, sum(u.n) AS n FROM unnest(l_groups, l_counts) AS u(group_id, n) GROUP BY u.group_id
        ) c WHERE g.id = c.group_id AND g.max_active IS NOT NULL;
    END IF;
    PERFORM 1 FROM fleet_owner WHERE max_active IS NOT NULL AND id = ANY (l_owners)
    ORDER BY id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE fleet_owner o SET leased = o.leased - c.n FROM (
            SELECT u.owner, sum(u.n) AS n FROM unnest(l_owners, l_counts) AS u(owner, n) GROUP BY u.owner
        ) c WHERE o.id = c.owner AND o.max_active IS NOT NULL;
    END IF;
END $$;

-- The lane of these five, made if there is none.
CREATE FUNCTION fleet_lane_of(a_priority smallint, a_owner bigint, a_group bigint, a_host bigint, a_place text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_lane bigint;
BEGIN
    LOOP
        SELECT id INTO v_lane FROM fleet_lane WHERE group_id = a_group AND host = a_host
            AND place = a_place AND priority = a_priority;
        IF FOUND THEN RETURN v_lane; END IF;
        INSERT INTO fleet_lane (priority, owner, group_id, host, place)
        VALUES (a_priority, a_owner, a_group, a_host, a_place) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

CREATE FUNCTION fleet_owner_of(a_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOOP
        SELECT id INTO v_id FROM fleet_owner WHERE name = a_name;
        IF FOUND THEN RETURN v_id; END IF;
        INSERT INTO fleet_owner (name) VALUES (a_name) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

CREATE FUNCTION fleet_group_of(a_owner bigint, a_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOOP
        SELECT id INTO v_id FROM fleet_group WHERE owner = a_owner AND name = a_name;
        IF FOUND THEN RETURN v_id; END IF;
        INSERT INTO fleet_group (owner, name) VALUES (a_owner, a_name) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

CREATE FUNCTION fleet_host_of(a_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOOP
        SELECT id INTO v_id FROM fleet_host WHERE name = a_name;
        IF FOUND THEN RETURN v_id; END IF;
        INSERT INTO fleet_host (name) VALUES (a_name) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;
