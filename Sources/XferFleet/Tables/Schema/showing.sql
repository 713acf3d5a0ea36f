-- Tasks as lists show them, in the order of their ids in the array. A function, because a session plans it once:
-- planning so many joins takes longer than reading a task.

CREATE FUNCTION fleet_show(a_tasks bigint[], a_with_spec boolean) RETURNS TABLE (
    task bigint, owner text, client_key text, priority smallint, group_name text, host text, place text,
    batch bigint, label text, is_repeatable boolean, state text, added_at bigint, not_before bigint,
    ended_at bigint, attempt integer, node text, is_node_down boolean, has_begun boolean, received bigint,
    total bigint, reason text, has_result boolean, detail text, spec text)
STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT t.id, o.name, t.client_key, l.priority, nullif(g.name, ''), h.name, l.place,
        t.batch, t.label, t.is_repeatable,
        CASE WHEN e.task IS NOT NULL THEN e.state WHEN s.task IS NOT NULL THEN 'leased'
            WHEN p.task IS NOT NULL THEN 'paused' WHEN d.task IS NOT NULL THEN 'delayed' ELSE 'queued' END,
        (extract(epoch FROM t.added_at) * 1000000)::bigint,
        (extract(epoch FROM t.not_before) * 1000000)::bigint,
        (extract(epoch FROM e.ended_at) * 1000000)::bigint,
        coalesce(e.attempt, s.attempt, p.attempt, q.attempt, 0), coalesce(e.node, n.name),
        coalesce(n.is_down, false), coalesce(s.has_begun, false), r.received, r.total,
        coalesce(q.reason, p.reason), EXISTS (SELECT 1 FROM fleet_result x WHERE x.task = t.id), e.detail,
        CASE WHEN a_with_spec THEN t.spec END
    FROM unnest(a_tasks) WITH ORDINALITY AS u(id, n) JOIN fleet_task t ON t.id = u.id
    JOIN fleet_lane l ON l.id = t.lane JOIN fleet_owner o ON o.id = t.owner
    JOIN fleet_group g ON g.id = l.group_id JOIN fleet_host h ON h.id = l.host
    LEFT JOIN fleet_end e ON e.task = t.id LEFT JOIN fleet_lease s ON s.task = t.id
    LEFT JOIN fleet_paused p ON p.task = t.id LEFT JOIN fleet_delayed d ON d.task = t.id
    LEFT JOIN fleet_node n ON n.id = s.node
    LEFT JOIN fleet_queue q ON q.lane = t.lane AND q.rank = t.rank AND q.task = t.id
    LEFT JOIN fleet_progress r ON r.task = t.id
    ORDER BY u.n;
END $$;
