-- Claims: of the highest priority first, lane by lane from a rotating cursor, within all limits.

-- The first pass takes what is not locked. If it finds nothing, a second one waits for one lane: without it a
-- node would come home empty from the only lane of a busy fleet.
CREATE FUNCTION fleet_claim(
    a_node bigint, a_incarnation bigint, a_want integer, a_lanes integer, a_cursor bigint)
RETURNS TABLE (
    task bigint, claim uuid, owner text, priority smallint, group_name text, host text, place text,
    batch bigint, label text, is_repeatable boolean, attempt integer, spec text, limits text, lane bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_name text;
    v_places text[];
    v_is_draining boolean;
    v_left integer := a_want;
    v_lanes integer := a_lanes;
    v_at bigint;
    v_tasks bigint[] := '{}';
    v_owners bigint[] := '{}';
    v_some bigint[];
    v_room integer;
    v_floor bigint;
    l_ids bigint[] := '{}';
    l_priorities smallint[] := '{}';
    l_places text[] := '{}';
    l_owners bigint[] := '{}';
    l_groups bigint[] := '{}';
    l_hosts bigint[] := '{}';
    r record;
    c record;
BEGIN
    -- A limit is set under a lock that waits for this one: what is read below stays true.
    LOCK TABLE fleet_lease IN ROW EXCLUSIVE MODE;
    SELECT n.name, n.places, n.is_draining INTO v_name, v_places, v_is_draining FROM fleet_node n
    WHERE n.id = a_node AND n.incarnation = a_incarnation AND NOT n.is_down FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'superseded' USING ERRCODE = 'XF001'; END IF;
    IF v_is_draining THEN RETURN; END IF;

    <<passes>> FOR v_pass IN 0..1 LOOP
        FOR v_priority IN REVERSE 2..0 LOOP
            FOR v_half IN 0..1 LOOP
                v_at := CASE v_half WHEN 0 THEN a_cursor ELSE -1 END;
                LOOP
                    EXIT passes WHEN v_left <= 0 OR v_lanes <= 0 OR v_pass = 1 AND cardinality(v_tasks) > 0;
                    IF v_pass = 0 THEN
                        SELECT l.*, l.ctid AS at INTO r FROM fleet_lane l
                        WHERE l.is_open AND l.priority = v_priority AND l.id > v_at
                            AND (v_half = 0 OR l.id <= a_cursor) AND l.place = ANY (v_places)
                            AND fleet_lane_is_free(l.owner, l.group_id, l.host)
                        ORDER BY l.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
                    ELSE
                        SELECT l.*, l.ctid AS at INTO r FROM fleet_lane l
                        WHERE l.is_open AND l.priority = v_priority AND l.id > v_at
                            AND (v_half = 0 OR l.id <= a_cursor) AND l.place = ANY (v_places)
                            AND fleet_lane_is_free(l.owner, l.group_id, l.host)
                        ORDER BY l.id LIMIT 1 FOR NO KEY UPDATE;
                    END IF;
                    EXIT WHEN NOT FOUND;
                    v_at := r.id;

                    v_room := fleet_room(r.host, r.group_id, r.owner, v_pass = 1);
                    v_room := least(v_left, r.queued, coalesce(v_room, v_left));
                    -- Holding a lane, it must not wait for another one.
                    EXIT passes WHEN v_room <= 0 AND v_pass = 1;
                    CONTINUE WHEN v_room <= 0;

                    WITH gone AS (
                        DELETE FROM fleet_queue q WHERE q.lane = r.id AND q.rank = ANY (ARRAY(
                            SELECT p.rank FROM fleet_queue p WHERE p.lane = r.id AND p.rank >= r.floor
                                AND (NOT p.is_declined OR NOT EXISTS (
                                    SELECT 1 FROM fleet_declined d WHERE d.task = p.task AND d.node = a_node))
                            ORDER BY p.rank LIMIT v_room))
                        RETURNING q.task, q.rank, q.attempt
                    ), leased AS (
                        INSERT INTO fleet_lease (task, node, claim, lane, attempt)
                        SELECT g.task, a_node, gen_random_uuid(), r.id, g.attempt + 1 FROM gone g
                    )
                    SELECT array_agg(g.task ORDER BY g.rank) AS tasks, count(*) AS n, max(g.rank) AS last
                    INTO c FROM gone g;
                    -- What other nodes may take stays at or above the floor.
                    v_floor := c.last + 1;
                    IF EXISTS (SELECT 1 FROM fleet_declined) THEN
                        SELECT q.rank INTO v_floor FROM fleet_queue q
                        WHERE q.lane = r.id AND q.rank >= r.floor ORDER BY q.rank LIMIT 1;
                        v_floor := coalesce(v_floor, c.last + 1);
                    END IF;
                    EXIT passes WHEN c.n = 0 AND v_pass = 1;
                    CONTINUE WHEN c.n = 0;

                    UPDATE fleet_lane l SET queued = l.queued - c.n, is_open = l.queued > c.n, floor = v_floor
                    WHERE l.ctid = r.at;
                    IF NOT FOUND THEN RAISE EXCEPTION 'lane % has changed under its lock', r.id; END IF;
                    UPDATE fleet_host h SET leased = h.leased + c.n
                    WHERE h.id = r.host AND h.max_active IS NOT NULL;
                    UPDATE fleet_group g SET leased = g.leased + c.n
                    WHERE g.id = r.group_id AND g.max_active IS NOT NULL;
                    UPDATE fleet_owner o SET leased = o.leased + c.n
                    WHERE o.id = r.owner AND o.max_active IS NOT NULL;

                    v_tasks := v_tasks || c.tasks;
                    v_owners := v_owners || array_fill(r.owner, ARRAY[c.n::integer]);
                    l_ids := l_ids || r.id;
                    l_priorities := l_priorities || r.priority;
                    l_places := l_places || r.place;
                    l_owners := l_owners || r.owner;
                    l_groups := l_groups || r.group_id;
                    l_hosts := l_hosts || r.host;
                    v_left := v_left - c.n;
                    v_lanes := v_lanes - 1;
                END LOOP;
            END LOOP;
        END LOOP;
        EXIT passes WHEN cardinality(v_tasks) > 0;
    END LOOP;
    IF cardinality(v_tasks) = 0 THEN RETURN; END IF;

    PERFORM fleet_tell('leased', v_name, v_tasks, v_owners, NULL);
    -- No lane is read again: while a snapshot is held, each lookup of one walks over all its versions.
    RETURN QUERY
    WITH lanes AS MATERIALIZED (
        SELECT a.id, o.name AS owner, a.priority, nullif(g.name, '') AS group_name, h.name AS host, a.place
        FROM unnest(l_ids, l_priorities, l_places, l_owners, l_groups, l_hosts)
            AS a(id, priority, place, owner, group_id, host)
        JOIN fleet_owner o ON o.id = a.owner JOIN fleet_group g ON g.id = a.group_id
        JOIN fleet_host h ON h.id = a.host
    )
    SELECT t.id, e.claim, l.owner, l.priority, l.group_name, l.host, l.place, t.batch, t.label,
        t.is_repeatable, e.attempt, t.spec, t.limits, e.lane
    FROM unnest(v_tasks) WITH ORDINALITY AS u(task, n)
    JOIN fleet_lease e ON e.task = u.task JOIN fleet_task t ON t.id = u.task
    JOIN lanes l ON l.id = e.lane
    ORDER BY u.n;
END $$;

-- Limits as a claim sees them.
-- A first look without locks; `fleet_room` decides.
CREATE FUNCTION fleet_lane_is_free(a_owner bigint, a_group bigint, a_host bigint)
RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM fleet_host h WHERE h.id = a_host
            AND (h.max_active IS NULL OR h.leased < h.max_active)
            AND (h.cooldown_until IS NULL OR h.cooldown_until <= now()))
        AND EXISTS (SELECT 1 FROM fleet_group g WHERE g.id = a_group
            AND NOT g.is_paused AND (g.max_active IS NULL OR g.leased < g.max_active))
        AND EXISTS (SELECT 1 FROM fleet_owner o WHERE o.id = a_owner
            AND (o.max_active IS NULL OR o.leased < o.max_active));
END $$;

-- How many more leases host, group and owner allow, with those locked that have a limit; NULL is no limit. 0 as
-- well if another claim has one of them and this one does not wait.
CREATE FUNCTION fleet_room(a_host bigint, a_group bigint, a_owner bigint, a_waits boolean)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_room integer;
    v_more integer;
    v_is_paused boolean;
BEGIN
    IF EXISTS (SELECT 1 FROM fleet_host WHERE id = a_host AND max_active IS NOT NULL) THEN
        IF NOT a_waits THEN
            PERFORM 1 FROM fleet_host WHERE id = a_host FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN 0; END IF;
        END IF;
        SELECT max_active - leased INTO v_room FROM fleet_host WHERE id = a_host FOR NO KEY UPDATE;
    END IF;
    SELECT is_paused INTO v_is_paused FROM fleet_group WHERE id = a_group;
    IF v_is_paused THEN RETURN 0; END IF;
    IF EXISTS (SELECT 1 FROM fleet_group WHERE id = a_group AND max_active IS NOT NULL) THEN
        IF NOT a_waits THEN
            PERFORM 1 FROM fleet_group WHERE id = a_group FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN 0; END IF;
        END IF;
        SELECT max_active - leased INTO v_more FROM fleet_group WHERE id = a_group FOR NO KEY UPDATE;
        v_room := least(v_room, v_more);
    END IF;
    IF EXISTS (SELECT 1 FROM fleet_owner WHERE id = a_owner AND max_active IS NOT NULL) THEN
        IF NOT a_waits THEN
            PERFORM 1 FROM fleet_owner WHERE id = a_owner FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN 0; END IF;
        END IF;
        SELECT max_active - leased INTO v_more FROM fleet_owner WHERE id = a_owner FOR NO KEY UPDATE;
        v_room := least(v_room, v_more);
    END IF;
    RETURN v_room;
END $$;
