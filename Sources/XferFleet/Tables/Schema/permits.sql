-- Answers the tasks whose claim is void: they must not be published.
CREATE FUNCTION fleet_permit(
    a_node bigint, a_incarnation bigint, a_tasks bigint[], a_claims uuid[], a_storages text[],
    a_directories text[], a_parts text[], a_names text[], a_inodes bigint[], a_sizes bigint[],
    a_modified bigint[])
RETURNS TABLE (lost bigint) LANGUAGE plpgsql AS $$
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
END $$;

-- The node has looked for what the former ones may have published, and found nothing.
CREATE FUNCTION fleet_close_permits(a_node bigint, a_incarnation bigint, a_tasks bigint[], a_claims uuid[])
RETURNS TABLE (lost bigint) LANGUAGE plpgsql AS $$
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
END $$;

-- Cancelling paused tasks whose former node may have published.
-- Queues those that are still paused and have an open permit, first in their lanes: the node that takes one next
-- looks at the storage, and ends it as completed or cancelled.
CREATE FUNCTION fleet_cancel_paused(a_tasks bigint[]) RETURNS TABLE (done bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_tasks bigint[];
    v_attempts integer[];
    v_reasons text[];
BEGIN
    -- A resume that commits first has deleted the row, and the caller judges the task again.
    v_tasks := ARRAY(SELECT p.task FROM fleet_paused p WHERE p.task = ANY (a_tasks)
        ORDER BY p.task FOR UPDATE);
    WITH marked AS (
        UPDATE fleet_permit p SET was_cancelling = true WHERE p.task = ANY (v_tasks) AND p.is_open
        RETURNING p.task
    ) SELECT array_agg(DISTINCT m.task) INTO v_tasks FROM marked m;
    IF v_tasks IS NULL THEN RETURN; END IF;
    SELECT array_agg(w.task ORDER BY w.task), array_agg(w.attempt ORDER BY w.task),
        array_agg(w.reason ORDER BY w.task)
    INTO v_tasks, v_attempts, v_reasons
    FROM fleet_withdraw(v_tasks, array_fill('paused'::text, ARRAY[cardinality(v_tasks)])) w;
    PERFORM fleet_enqueue(v_tasks, v_attempts, v_reasons, true);
    PERFORM fleet_tell('resumed', NULL, v_tasks, fleet_owners_of(v_tasks),
        array_fill('{"wish":"cancel"}'::text, ARRAY[cardinality(v_tasks)]));
    RETURN QUERY SELECT unnest(v_tasks);
END $$;
