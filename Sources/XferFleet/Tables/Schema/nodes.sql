-- Nodes: how they join, how they are called down, and what becomes of their tasks.

-- Answers no row if another store has the name and is not down.
CREATE FUNCTION fleet_register(
    a_name text, a_store text, a_places text[], a_labels text[], a_slots integer, a_digests text[],
    a_version text)
RETURNS TABLE (node bigint, incarnation bigint, applied bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_node fleet_node;
    v_is_new boolean := false;
BEGIN
    INSERT INTO fleet_node AS n (
        name, incarnation, store_id, places, labels, slots, digests, version)
    VALUES (a_name, 0, a_store, a_places, a_labels, a_slots, a_digests, a_version)
    ON CONFLICT (name) DO NOTHING;
    v_is_new := FOUND;
    SELECT * INTO v_node FROM fleet_node n WHERE n.name = a_name FOR UPDATE;
    IF v_node.store_id <> a_store AND NOT v_node.is_down THEN RETURN; END IF;
    UPDATE fleet_node n SET incarnation = n.incarnation + 1, store_id = a_store, places = a_places,
        labels = a_labels, slots = a_slots, digests = a_digests, version = a_version, is_down = false,
        is_settled = true, applied = CASE WHEN n.store_id = a_store THEN n.applied ELSE 0 END
    WHERE n.id = v_node.id RETURNING * INTO v_node;
    INSERT INTO fleet_beat AS b (node, incarnation, beat, at)
    VALUES (v_node.id, v_node.incarnation, 1, clock_timestamp())
    ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, beat = b.beat + 1, at = excluded.at;
    PERFORM fleet_tell('node_joined', a_name, ARRAY[NULL]::bigint[], NULL, NULL);
    RETURN QUERY SELECT v_node.id, v_node.incarnation, v_node.applied;
END $$;

-- Calls a node down, unless it has beaten since it was observed.
CREATE FUNCTION fleet_mark_down(a_node bigint, a_incarnation bigint, a_beat bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_name text;
BEGIN
    SELECT name INTO v_name FROM fleet_node
    WHERE id = a_node AND incarnation = a_incarnation FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT 1 FROM fleet_node WHERE id = a_node AND is_down) THEN RETURN true; END IF;
    UPDATE fleet_beat SET incarnation = NULL
    WHERE node = a_node AND incarnation = a_incarnation AND beat = a_beat;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE fleet_node SET is_down = true, is_settled = false WHERE id = a_node;
    PERFORM fleet_tell('node_down', v_name, ARRAY[NULL]::bigint[], NULL, NULL);
    RETURN true;
END $$;

-- Applies verdicts on leases; those whose claim or beginning is another one now are left alone. If the node
-- must be down and is not any more, nothing is done.
CREATE FUNCTION fleet_settle(
    a_node bigint, a_must_be_down boolean, a_tasks bigint[], a_claims uuid[], a_begun boolean[],
    a_verdicts text[], a_details text[], a_reason text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
    v_tasks bigint[];
    v_lanes bigint[];
    v_attempts integer[];
    v_verdicts text[];
    v_details text[];
BEGIN
    LOCK TABLE fleet_lease IN ROW EXCLUSIVE MODE;
    SELECT name INTO v_name FROM fleet_node
    WHERE id = a_node AND (is_down OR NOT a_must_be_down) FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    IF EXISTS (SELECT 1 FROM fleet_permit) THEN
        UPDATE fleet_permit p SET was_cancelling = true FROM fleet_lease l
        WHERE p.task = ANY (a_tasks) AND l.task = p.task AND l.claim = p.claim AND l.node = a_node
            AND l.is_cancelling;
    END IF;
    WITH chosen AS (
        SELECT l.task, l.claim, u.verdict, u.detail, u.n
        FROM unnest(a_tasks, a_claims, a_begun, a_verdicts, a_details)
            WITH ORDINALITY AS u(task, claim, begun, verdict, detail, n)
        JOIN fleet_lease l ON l.task = u.task AND l.claim = u.claim AND l.node = a_node
            AND l.has_begun = u.begun
        FOR UPDATE OF l
    ), gone AS (
        SELECT g.task, g.lane, g.attempt FROM fleet_unlease(a_node,
            ARRAY(SELECT c.task FROM chosen c ORDER BY c.task),
            ARRAY(SELECT c.claim FROM chosen c ORDER BY c.task)) g
    )
    SELECT array_agg(g.task ORDER BY c.n), array_agg(g.lane ORDER BY c.n),
        array_agg(g.attempt ORDER BY c.n), array_agg(c.verdict ORDER BY c.n), array_agg(c.detail ORDER BY c.n)
    INTO v_tasks, v_lanes, v_attempts, v_verdicts, v_details
    FROM gone g JOIN chosen c ON c.task = g.task;
    IF v_tasks IS NULL THEN RETURN 0; END IF;

    a_tasks := ARRAY(SELECT u.task FROM unnest(v_tasks, v_verdicts) WITH ORDINALITY AS u(task, verdict, n)
        WHERE u.verdict = 'queue' ORDER BY u.n);
    PERFORM fleet_enqueue(a_tasks,
        ARRAY(SELECT u.attempt FROM unnest(v_attempts, v_verdicts)
            WITH ORDINALITY AS u(attempt, verdict, n) WHERE u.verdict = 'queue' ORDER BY u.n),
        array_fill(a_reason, ARRAY[cardinality(a_tasks)]), true);
    PERFORM fleet_uncount(v_lanes);
    PERFORM fleet_tell('released', v_name, a_tasks, fleet_owners_of(a_tasks), NULL);
    PERFORM fleet_finish(e.tasks, e.attempts, e.states, e.details, v_name) FROM (
        SELECT array_agg(u.task ORDER BY u.n) AS tasks, array_agg(u.attempt ORDER BY u.n) AS attempts,
            array_agg(u.verdict ORDER BY u.n) AS states, array_agg(u.detail ORDER BY u.n) AS details
        FROM unnest(v_tasks, v_attempts, v_verdicts, v_details)
            WITH ORDINALITY AS u(task, attempt, verdict, detail, n)
        WHERE u.verdict <> 'queue'
    ) e;
    RETURN cardinality(v_tasks);
END $$;

-- Ends tasks that wait.
CREATE FUNCTION fleet_end_waiting(a_tasks bigint[], a_states text[], a_ends text[], a_details text[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_tasks bigint[];
    v_attempts integer[];
    v_ends text[];
    v_details text[];
BEGIN
    SELECT array_agg(w.task ORDER BY u.n), array_agg(w.attempt ORDER BY u.n),
        array_agg(u.ending ORDER BY u.n), array_agg(u.detail ORDER BY u.n)
    INTO v_tasks, v_attempts, v_ends, v_details
    FROM fleet_withdraw(a_tasks, a_states) w
    JOIN unnest(a_tasks, a_ends, a_details) WITH ORDINALITY AS u(task, ending, detail, n)
        ON u.task = w.task;
    PERFORM fleet_finish(v_tasks, v_attempts, v_ends, v_details, NULL);
    RETURN coalesce(cardinality(v_tasks), 0);
END $$;

-- Removes a node without leases.
CREATE FUNCTION fleet_forget(a_node bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_name text;
BEGIN
    SELECT name INTO v_name FROM fleet_node WHERE id = a_node AND is_down FOR UPDATE;
    IF NOT FOUND OR EXISTS (SELECT 1 FROM fleet_lease WHERE node = a_node) THEN RETURN false; END IF;
    DELETE FROM fleet_declined WHERE node = a_node;
    DELETE FROM fleet_node WHERE id = a_node;
    PERFORM fleet_tell('node_forgotten', v_name, ARRAY[NULL]::bigint[], NULL, NULL);
    RETURN true;
END $$;

CREATE FUNCTION fleet_drain(a_name text, a_is_draining boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_was boolean;
BEGIN
    SELECT is_draining INTO v_was FROM fleet_node WHERE name = a_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF v_was = a_is_draining THEN RETURN true; END IF;
    UPDATE fleet_node SET is_draining = a_is_draining WHERE name = a_name;
    PERFORM fleet_tell(CASE WHEN a_is_draining THEN 'node_draining' ELSE 'node_undrained' END, a_name,
        ARRAY[NULL]::bigint[], NULL, NULL);
    RETURN true;
END $$;
