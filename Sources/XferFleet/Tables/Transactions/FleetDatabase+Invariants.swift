extension FleetDatabase {
    /// The violated invariants of the tables, empty if there are none. For tests: it reads all rows.
    public func invariants() async throws(FleetError) -> [String] {
        try await connections.calls.run(Self.checks.map { "SELECT \($0)" }.joined(separator: " UNION ALL ")).map {
            (row) throws(PostgresError) in try row.text(0)
        }
    }

    /// The queries, each of which selects a text for every wrong row.
    private static let checks = [
        """
        'task ' || t.id || ' is in ' || count(n.task) || ' tables' FROM fleet_task t LEFT JOIN (
            SELECT task FROM fleet_queue UNION ALL SELECT task FROM fleet_delayed UNION ALL SELECT task FROM fleet_paused
            UNION ALL SELECT task FROM fleet_lease UNION ALL SELECT task FROM fleet_end
        ) n ON n.task = t.id GROUP BY t.id HAVING count(n.task) <> 1
        """,
        """
        'task ' || q.task || ' is queued elsewhere' FROM fleet_queue q LEFT JOIN fleet_task t ON t.id = q.task
        WHERE (t.lane, t.rank) IS DISTINCT FROM (q.lane, q.rank)
        """,
        """
        'lane ' || l.id || ' has wrong counts or ranks' FROM fleet_lane l LEFT JOIN (
            SELECT lane, count(*) AS n, min(rank) AS first, max(rank) AS last FROM fleet_queue GROUP BY lane
        ) q ON q.lane = l.id
        WHERE l.queued <> coalesce(q.n, 0) OR l.is_open <> (l.queued > 0) OR q.first < l.floor OR q.last > l.last_rank
        """,
        """
        'host ' || h.name || ' counts ' || h.leased FROM fleet_host h WHERE h.leased <> CASE
            WHEN h.max_active IS NULL THEN 0 ELSE (
                SELECT count(*) FROM fleet_lease s JOIN fleet_lane l ON l.id = s.lane WHERE l.host = h.id) END
        """,
        """
        'group ' || g.name || ' counts ' || g.leased FROM fleet_group g WHERE g.leased <> CASE
            WHEN g.max_active IS NULL THEN 0 ELSE (
                SELECT count(*) FROM fleet_lease s JOIN fleet_lane l ON l.id = s.lane WHERE l.group_id = g.id) END
        """,
        """
        'owner ' || o.name || ' counts ' || o.leased FROM fleet_owner o WHERE o.leased <> CASE
            WHEN o.max_active IS NULL THEN 0 ELSE (
                SELECT count(*) FROM fleet_lease s JOIN fleet_lane l ON l.id = s.lane WHERE l.owner = o.id) END
        """,
        """
        'events have a gap: ' || v.n || ' from ' || v.first || ' to ' || v.last FROM (
            SELECT count(*) AS n, min(seq) AS first, max(seq) AS last FROM fleet_event
        ) v, fleet_meta m WHERE v.n <> v.last - v.first + 1 OR v.first <> m.oldest_event
        """,
        """
        'task ' || t.id || ' ended ' || v.ends || ' times after ' || v.retries || ' retries'
        FROM fleet_task t JOIN (
            SELECT task, count(*) FILTER (WHERE kind = 'ended') AS ends, count(*) FILTER (WHERE kind = 'retried') AS retries
            FROM fleet_event GROUP BY task
        ) v ON v.task = t.id JOIN fleet_meta m ON m.oldest_event = 1 LEFT JOIN fleet_end e ON e.task = t.id
        WHERE v.ends <> v.retries + CASE WHEN e.task IS NULL THEN 0 ELSE 1 END
        """,
        """
        'lease of task ' || s.task || ' has no node or another lane' FROM fleet_lease s
        LEFT JOIN fleet_node n ON n.id = s.node LEFT JOIN fleet_task t ON t.id = s.task
        WHERE n.id IS NULL OR t.lane IS DISTINCT FROM s.lane
        """,
        """
        'wish ' || w.id || ' has no lease' FROM fleet_wish w
        WHERE NOT EXISTS (SELECT 1 FROM fleet_lease s WHERE s.task = w.task AND s.claim = w.claim AND s.node = w.node)
        """,
        """
        'task ' || e.task || ' has ended and is unknown' FROM fleet_end e
        WHERE NOT EXISTS (SELECT 1 FROM fleet_task t WHERE t.id = e.task)
        """,
    ]
}
