-- What nodes report.

CREATE FUNCTION fleet_begin(a_node bigint, a_incarnation bigint, a_tasks bigint[], a_claims uuid[])
RETURNS TABLE (lost bigint) LANGUAGE plpgsql AS $$
DECLARE v_begun bigint[];
BEGIN
    PERFORM 1 FROM fleet_node n
    WHERE n.id = a_node AND n.incarnation = a_incarnation AND NOT n.is_down FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'superseded' USING ERRCODE = 'XF001'; END IF;
    WITH begun AS (
        UPDATE fleet_lease l SET has_begun = true FROM unnest(a_tasks, a_claims) AS u(task, claim)
        WHERE l.task = u.task AND l.claim = u.claim AND l.node = a_node RETURNING l.task
    ) SELECT array_agg(b.task) INTO v_begun FROM begun b;
    RETURN QUERY SELECT u.task FROM unnest(a_tasks) AS u(task)
    WHERE v_begun IS NULL OR u.task <> ALL (v_begun);
END $$;

-- Takes leases away from their node: what is not returned was not under this claim.
CREATE FUNCTION fleet_unlease(a_node bigint, a_tasks bigint[], a_claims uuid[])
RETURNS TABLE (task bigint, lane bigint, attempt integer, is_cancelling boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_tasks bigint[];
    v_lanes bigint[];
    v_attempts integer[];
    v_cancelling boolean[];
BEGIN
    WITH gone AS (
        DELETE FROM fleet_lease l USING unnest(a_tasks, a_claims) AS u(task, claim)
        WHERE l.task = u.task AND l.claim = u.claim AND l.node = a_node
        RETURNING l.task, l.lane, l.attempt, l.is_cancelling
    )
    SELECT array_agg(g.task), array_agg(g.lane), array_agg(g.attempt), array_agg(g.is_cancelling)
    INTO v_tasks, v_lanes, v_attempts, v_cancelling FROM gone g;
    IF v_tasks IS NULL THEN RETURN; END IF;
    -- A statement of its own: it sees wishes whose commit the one before had to wait for.
    DELETE FROM fleet_wish w WHERE w.node = a_node AND w.task = ANY (v_tasks);
    DELETE FROM fleet_progress p WHERE p.task = ANY (v_tasks);
    RETURN QUERY SELECT u.* FROM unnest(v_tasks, v_lanes, v_attempts, v_cancelling) u;
END $$;

CREATE FUNCTION fleet_report(
    a_node bigint, a_incarnation bigint, a_applied bigint,
    e_tasks bigint[], e_claims uuid[], e_states text[], e_details text[], e_results bytea[],
    r_tasks bigint[], r_claims uuid[], r_next text[], r_places text[], r_reasons text[],
    p_tasks bigint[], p_claims uuid[], p_received bigint[], p_total bigint[], w_ids bigint[])
RETURNS TABLE (lost bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_name text;
    v_applied bigint;
    v_ended bigint[];
    v_lanes bigint[] := '{}';
    v_attempts integer[];
    v_at integer[];
BEGIN
    LOCK TABLE fleet_lease IN ROW EXCLUSIVE MODE;
    SELECT n.name, n.applied INTO v_name, v_applied FROM fleet_node n
    WHERE n.id = a_node AND n.incarnation = a_incarnation AND NOT n.is_down FOR NO KEY UPDATE;
    IF NOT FOUND THEN RAISE EXCEPTION 'superseded' USING ERRCODE = 'XF001'; END IF;
    IF a_applied <> v_applied THEN UPDATE fleet_node SET applied = a_applied WHERE id = a_node; END IF;
    IF cardinality(w_ids) > 0 THEN
        DELETE FROM fleet_wish w WHERE w.node = a_node AND w.id = ANY (w_ids);
    END IF;
    IF cardinality(p_tasks) > 0 THEN
        INSERT INTO fleet_progress AS p (task, received, total)
        SELECT DISTINCT ON (u.task) u.task, u.received, u.total
        FROM unnest(p_tasks, p_claims, p_received, p_total) AS u(task, claim, received, total)
        JOIN fleet_lease l ON l.task = u.task AND l.claim = u.claim AND l.node = a_node
        ORDER BY u.task
        ON CONFLICT (task) DO UPDATE SET received = excluded.received, total = excluded.total;
    END IF;

    -- A node that reports has settled what it was permitted to publish.
    IF EXISTS (SELECT 1 FROM fleet_permit) THEN
        DELETE FROM fleet_permit p USING fleet_lease l, unnest(e_tasks || r_tasks, e_claims || r_claims)
            AS u(task, claim)
        WHERE p.task = u.task AND p.claim = u.claim AND l.task = u.task AND l.claim = u.claim
            AND l.node = a_node;
    END IF;
    IF cardinality(e_tasks) > 0 THEN
        WITH gone AS (SELECT g.* FROM fleet_unlease(a_node, e_tasks, e_claims) g)
        SELECT array_agg(g.task ORDER BY u.n), array_agg(g.lane), array_agg(g.attempt ORDER BY u.n),
            array_agg(u.n::integer ORDER BY u.n)
        INTO v_ended, v_lanes, v_attempts, v_at
        FROM gone g JOIN (
            SELECT DISTINCT ON (t.task) t.task, t.n FROM unnest(e_tasks) WITH ORDINALITY AS t(task, n)
            ORDER BY t.task, t.n
        ) u ON u.task = g.task;
        v_lanes := coalesce(v_lanes, '{}');
        RETURN QUERY SELECT u.task FROM unnest(e_tasks) AS u(task)
        WHERE v_ended IS NULL OR u.task <> ALL (v_ended);
    END IF;
    IF cardinality(r_tasks) > 0 THEN
        RETURN QUERY SELECT g.lost FROM fleet_release(
            a_node, v_name, r_tasks, r_claims, r_next, r_places, r_reasons, v_lanes) g;
    ELSIF cardinality(v_lanes) > 0 THEN
        PERFORM fleet_uncount(v_lanes);
    END IF;
    IF v_ended IS NOT NULL THEN
        PERFORM fleet_finish(v_ended, v_attempts,
            ARRAY(SELECT e_states[u.i] FROM unnest(v_at) WITH ORDINALITY AS u(i, n) ORDER BY u.n),
            ARRAY(SELECT e_details[u.i] FROM unnest(v_at) WITH ORDINALITY AS u(i, n) ORDER BY u.n), v_name);
        INSERT INTO fleet_result (task, owner, body)
        SELECT u.task, t.owner, e_results[u.i] FROM unnest(v_ended, v_at) AS u(task, i)
        JOIN fleet_task t ON t.id = u.task WHERE e_results[u.i] IS NOT NULL;
    END IF;
END $$;

-- The leases of ended tasks are counted off here, too, because hosts are locked after lanes and before events.
CREATE FUNCTION fleet_release(
    a_node bigint, a_name text, r_tasks bigint[], r_claims uuid[], r_next text[], r_places text[],
    r_reasons text[], e_lanes bigint[])
RETURNS TABLE (lost bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_cancelled bigint[] := '{}';
    v_cancelled_attempts integer[] := '{}';
    v_paused bigint[] := '{}';
    v_gone bigint[] := '{}';
    v_lanes bigint[] := '{}';
    v_tasks bigint[] := '{}';
    v_attempts integer[] := '{}';
    v_reasons text[] := '{}';
BEGIN
    FOR r IN
        SELECT g.task, g.lane, g.attempt, g.is_cancelling, r_next[u.n] AS next, r_places[u.n] AS place,
            r_reasons[u.n] AS reason
        FROM fleet_unlease(a_node, r_tasks, r_claims) g
        JOIN (
            SELECT DISTINCT ON (v.task) v.task, v.n::integer AS n
            FROM unnest(r_tasks) WITH ORDINALITY AS v(task, n) ORDER BY v.task, v.n
        ) u ON u.task = g.task
        ORDER BY u.n
    LOOP
        v_gone := v_gone || r.task;
        v_lanes := v_lanes || r.lane;
        IF r.is_cancelling THEN
            v_cancelled := v_cancelled || r.task;
            v_cancelled_attempts := v_cancelled_attempts || r.attempt;
        ELSIF r.next = 'paused' THEN
            INSERT INTO fleet_paused (task, attempt, reason) VALUES (r.task, r.attempt, r.reason);
            v_paused := v_paused || r.task;
        ELSE
            IF r.next = 'move' THEN
                DELETE FROM fleet_declined d WHERE d.task = r.task;
                UPDATE fleet_task t SET lane = (
                    SELECT fleet_lane_of(l.priority, l.owner, l.group_id, l.host, r.place)
                    FROM fleet_lane l WHERE l.id = t.lane) WHERE t.id = r.task;
            ELSIF r.next = 'decline' THEN
                INSERT INTO fleet_declined (task, node, reason) VALUES (r.task, a_node, r.reason)
                ON CONFLICT (task, node) DO UPDATE SET reason = excluded.reason;
            END IF;
            v_tasks := v_tasks || r.task;
            v_attempts := v_attempts || r.attempt;
            v_reasons := v_reasons || r.reason;
        END IF;
    END LOOP;
    PERFORM fleet_enqueue(v_tasks, v_attempts, v_reasons, true);
    PERFORM fleet_uncount(v_lanes || e_lanes);
    PERFORM fleet_finish(v_cancelled, v_cancelled_attempts,
        array_fill('cancelled'::text, ARRAY[cardinality(v_cancelled)]),
        array_fill('{}'::text, ARRAY[cardinality(v_cancelled)]), a_name);
    PERFORM fleet_tell('paused', a_name, v_paused, fleet_owners_of(v_paused), NULL);
    PERFORM fleet_tell('released', a_name, v_tasks, fleet_owners_of(v_tasks), NULL);
    RETURN QUERY SELECT u.task FROM unnest(r_tasks) AS u(task) WHERE u.task <> ALL (v_gone);
END $$;
