-- What owners and operators want. The states come from a judgement made before: a task that is elsewhere now is left
-- alone and is missing in the answer.

CREATE FUNCTION fleet_wish_waiting(a_wish text, a_argument text, a_tasks bigint[], a_states text[])
RETURNS TABLE (done bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_tasks bigint[];
    v_states text[];
    v_attempts integer[];
    v_due timestamptz[];
    v_reasons text[];
    v_lanes bigint[];
    v_kind text := 'changed';
BEGIN
    IF a_wish = 'limits' THEN
        -- They stay where they are; a claim that is under way has the lane.
        v_tasks := ARRAY(SELECT d.task FROM fleet_delayed d WHERE d.task = ANY (a_tasks) FOR UPDATE)
            || ARRAY(SELECT p.task FROM fleet_paused p WHERE p.task = ANY (a_tasks) FOR UPDATE);
        v_lanes := ARRAY(SELECT DISTINCT t.lane FROM fleet_task t WHERE t.id = ANY (a_tasks));
        PERFORM 1 FROM fleet_lane l WHERE l.id = ANY (v_lanes) ORDER BY l.id FOR NO KEY UPDATE;
        v_tasks := v_tasks || ARRAY(SELECT t.id FROM fleet_task t JOIN fleet_queue q
            ON q.lane = t.lane AND q.rank = t.rank AND q.task = t.id
            WHERE t.id = ANY (a_tasks) AND t.lane = ANY (v_lanes));
        UPDATE fleet_task t SET limits = (coalesce(t.limits, '{}')::jsonb || a_argument::jsonb)::text
        WHERE t.id = ANY (v_tasks);
        PERFORM fleet_tell('changed', NULL, v_tasks, fleet_owners_of(v_tasks),
            array_fill('{"wish":"limits"}'::text, ARRAY[cardinality(v_tasks)]));
        RETURN QUERY SELECT unnest(v_tasks);
        RETURN;
    END IF;

    SELECT array_agg(w.task ORDER BY u.n), array_agg(w.state ORDER BY u.n),
        array_agg(w.attempt ORDER BY u.n), array_agg(w.due ORDER BY u.n),
        array_agg(w.reason ORDER BY u.n)
    INTO v_tasks, v_states, v_attempts, v_due, v_reasons
    FROM fleet_withdraw(a_tasks, a_states) w
    JOIN unnest(a_tasks) WITH ORDINALITY AS u(task, n) ON u.task = w.task;
    IF v_tasks IS NULL THEN RETURN; END IF;

    IF a_wish = 'cancel' THEN
        PERFORM fleet_finish(v_tasks, v_attempts,
            array_fill('cancelled'::text, ARRAY[cardinality(v_tasks)]),
            array_fill('{}'::text, ARRAY[cardinality(v_tasks)]), NULL);
        RETURN QUERY SELECT unnest(v_tasks);
        RETURN;
    ELSIF a_wish = 'pause' THEN
        v_kind := 'paused';
        v_states := array_fill('paused'::text, ARRAY[cardinality(v_tasks)]);
    ELSIF a_wish = 'resume' THEN
        v_kind := 'resumed';
        v_due := ARRAY(SELECT t.not_before FROM unnest(v_tasks) WITH ORDINALITY AS u(task, n)
            JOIN fleet_task t ON t.id = u.task ORDER BY u.n);
        v_states := ARRAY(SELECT CASE WHEN d.due > now() THEN 'delayed' ELSE 'queued' END
            FROM unnest(v_due) WITH ORDINALITY AS d(due, n) ORDER BY d.n);
    ELSIF a_wish = 'move' THEN
        DELETE FROM fleet_declined d WHERE d.task = ANY (v_tasks);
        v_reasons := NULL;
        UPDATE fleet_task t SET lane = fleet_lane_of(l.priority, l.owner, l.group_id, l.host, a_argument)
        FROM fleet_lane l WHERE l.id = t.lane AND t.id = ANY (v_tasks);
    ELSIF a_wish = 'priority' THEN
        UPDATE fleet_task t
        SET lane = fleet_lane_of(a_argument::smallint, l.owner, l.group_id, l.host, l.place)
        FROM fleet_lane l WHERE l.id = t.lane AND t.id = ANY (v_tasks);
    END IF;

    INSERT INTO fleet_paused (task, attempt, reason)
    SELECT u.task, u.attempt, u.reason
    FROM unnest(v_tasks, v_states, v_attempts, v_reasons) AS u(task, state, attempt, reason)
    WHERE u.state = 'paused';
    INSERT INTO fleet_delayed (task, due)
    SELECT u.task, u.due FROM unnest(v_tasks, v_states, v_due) AS u(task, state, due)
    WHERE u.state = 'delayed';
    SELECT array_agg(u.task ORDER BY u.n), array_agg(u.attempt ORDER BY u.n),
        array_agg(u.reason ORDER BY u.n)
    INTO a_tasks, v_attempts, v_reasons
    FROM unnest(v_tasks, v_states, v_attempts, v_reasons)
        WITH ORDINALITY AS u(task, state, attempt, reason, n)
    WHERE u.state = 'queued';
    PERFORM fleet_enqueue(
        a_tasks, v_attempts, v_reasons, a_wish = 'reorder' AND a_argument = 'top');
    PERFORM fleet_tell(v_kind, NULL, v_tasks, fleet_owners_of(v_tasks),
        array_fill('{"wish":"' || a_wish || '"}', ARRAY[cardinality(v_tasks)]));
    RETURN QUERY SELECT unnest(v_tasks);
END $$;

-- Keeps a wish for the nodes that have the tasks.
CREATE FUNCTION fleet_wish_leased(a_wish text, a_argument text, a_tasks bigint[])
RETURNS TABLE (done bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE v_tasks bigint[];
BEGIN
    v_tasks := ARRAY(SELECT l.task FROM fleet_lease l WHERE l.task = ANY (a_tasks)
        AND NOT l.is_cancelling ORDER BY l.task FOR NO KEY UPDATE);
    INSERT INTO fleet_wish (node, task, claim, wish, argument)
    SELECT l.node, l.task, l.claim, a_wish, a_argument FROM fleet_lease l
    WHERE l.task = ANY (v_tasks) ORDER BY l.task;
    IF a_wish = 'cancel' THEN
        UPDATE fleet_lease l SET is_cancelling = true WHERE l.task = ANY (v_tasks);
    ELSIF a_wish = 'priority' THEN
        UPDATE fleet_task t
        SET lane = fleet_lane_of(a_argument::smallint, l.owner, l.group_id, l.host, l.place)
        FROM fleet_lane l WHERE l.id = t.lane AND t.id = ANY (v_tasks);
        UPDATE fleet_lease e SET lane = t.lane FROM fleet_task t
        WHERE t.id = e.task AND e.task = ANY (v_tasks);
    ELSIF a_wish = 'limits' THEN
        UPDATE fleet_task t SET limits = (coalesce(t.limits, '{}')::jsonb || a_argument::jsonb)::text
        WHERE t.id = ANY (v_tasks);
    END IF;
    RETURN QUERY SELECT unnest(v_tasks);
END $$;

CREATE FUNCTION fleet_wish_ended(a_wish text, a_tasks bigint[], a_states text[])
RETURNS TABLE (done bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_tasks bigint[];
    v_owners bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM fleet_end e USING unnest(a_tasks, a_states) AS u(task, state)
        WHERE e.task = u.task AND e.state = u.state RETURNING e.task
    ) SELECT array_agg(g.task ORDER BY g.task) INTO v_tasks FROM gone g;
    IF v_tasks IS NULL THEN RETURN; END IF;
    v_owners := fleet_owners_of(v_tasks);
    DELETE FROM fleet_result r WHERE r.task = ANY (v_tasks);
    DELETE FROM fleet_progress p WHERE p.task = ANY (v_tasks);
    DELETE FROM fleet_declined d WHERE d.task = ANY (v_tasks);
    IF a_wish = 'retry' THEN
        PERFORM fleet_enqueue(v_tasks, array_fill(0, ARRAY[cardinality(v_tasks)]), NULL, false);
        PERFORM fleet_tell('retried', NULL, v_tasks, v_owners, NULL);
    ELSE
        DELETE FROM fleet_task t WHERE t.id = ANY (v_tasks);
        PERFORM fleet_tell('removed', NULL, v_tasks, v_owners, NULL);
    END IF;
    RETURN QUERY SELECT unnest(v_tasks);
END $$;
