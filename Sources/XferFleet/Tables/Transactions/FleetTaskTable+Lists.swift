import XferCore

extension FleetTaskTable {
    /// Returns one task with all columns; nil if there is none.
    func get(_ id: FleetTaskID) async throws(FleetError) -> FleetTask? {
        try await get([id]).first
    }

    /// Returns these tasks, optionally with their specifications. Tasks that do not exist are left out.
    func get(_ ids: [FleetTaskID], withSpecs: Bool = true) async throws(FleetError) -> [FleetTask] {
        let tasks = try await calls.run(
            "SELECT * FROM fleet_show($1::bigint[], $2::boolean)",
            [PostgresArray.integers(ids.map(\.rawValue)), withSpecs ? "true" : "false"]
        ).map(FleetTaskQuery.task)
        return try await withRefusals(tasks)
    }

    /// Adds the nodes that have declined the tasks. Only tasks that were returned are queried: they alone have a
    /// reason.
    private func withRefusals(_ tasks: [FleetTask]) async throws(FleetError) -> [FleetTask] {
        let ids = tasks.filter { $0.state == .queued && $0.reason != nil }.map(\.id)
        guard !ids.isEmpty else { return tasks }
        var refusals: [FleetTaskID: [FleetRefusal]] = [:]
        for (task, refusal) in try await calls.run(
            "SELECT task, node, reason FROM fleet_declined WHERE task = ANY ($1::bigint[]) ORDER BY task, node",
            [PostgresArray.integers(ids.map(\.rawValue))]
        ).map({ (row) throws(PostgresError) in
            (
                FleetTaskID(try row.integer(0)),
                FleetRefusal(node: FleetNodeID(try row.integer(1)), reason: try row.text(2))
            )
        }) {
            refusals[task, default: []].append(refusal)
        }
        return tasks.map { task in
            var task = task
            task.refusals = refusals[task.id] ?? []
            return task
        }
    }

    /// Returns the bytes that are stored for a user's tasks. Specifications below `longSpecification` and results below
    /// `longResult` bytes are not counted, so that the sum reads only indexes of long ones.
    func storedBytes(of owner: String) async throws(FleetError) -> Int64 {
        try await calls.run(
            """
            SELECT coalesce((SELECT sum(t.spec_bytes) FROM fleet_task t
                    WHERE t.owner = o.id AND t.spec_bytes >= \(Self.longSpecification)), 0)
                + coalesce((SELECT sum(r.bytes) FROM fleet_result r
                    WHERE r.owner = o.id AND r.bytes >= \(Self.longResult)), 0)
            FROM fleet_owner o WHERE o.name = $1
            """, [owner]
        ).map { (row) throws(PostgresError) in try row.integer(0) }.first ?? 0
    }

    /// The least bytes of a specification and of a result that count; the conditions of indexes in `tables.sql`.
    static let longSpecification = 8192
    static let longResult = 4096

    /// Returns those of the client keys that tasks of the user have.
    func existingKeys(_ keys: [String], of owner: String) async throws(FleetError) -> Set<String> {
        let found = try await calls.run(
            """
            SELECT t.client_key FROM fleet_task t JOIN fleet_owner o ON o.id = t.owner
            WHERE o.name = $1 AND t.client_key = ANY ($2::text[])
            """, [owner, PostgresArray.texts(keys)]
        ).map { (row) throws(PostgresError) in try row.text(0) }
        return Set(found)
    }

    /// The kept result of a task; nil if there is none.
    func result(_ id: FleetTaskID) async throws(FleetError) -> [UInt8]? {
        try await calls.run("SELECT encode(body, 'hex') FROM fleet_result WHERE task = $1::bigint", [id.description])
            .map { (row) throws(PostgresError) in
                guard let bytes = PostgresArray.bytes(hexadecimal: try row.text(0)) else {
                    throw PostgresError(.form, "a result is not hexadecimal")
                }
                return bytes
            }.first
    }

    /// A page of tasks by id, without their specs; `limit` at most 1,000.
    func list(_ filter: FleetTaskFilter, after: FleetTaskID?, newestFirst: Bool, limit: Int)
        async throws(FleetError) -> FleetTaskPage
    {
        var conditions = FleetConditions(filter, isStateJoined: false)
        conditions.add(after?.description) { "t.id \(newestFirst ? "<" : ">") \($0)::bigint" }
        let limit = min(max(limit, 1), FleetTaskPage.limit)
        let count = conditions.number(String(limit + 1))
        var tasks = try await calls.run(
            """
            SELECT * FROM fleet_show(ARRAY(SELECT t.id FROM fleet_task t \(conditions.sql)
                ORDER BY t.id \(newestFirst ? "DESC" : "ASC") LIMIT \(count)::bigint), false)
            """, conditions.parameters
        ).map(FleetTaskQuery.task)
        let hasMore = tasks.count > limit
        if hasMore { tasks.removeLast() }
        return FleetTaskPage(tasks: try await withRefusals(tasks), next: hasMore ? tasks.last?.id : nil)
    }

    /// The number of matching tasks in each state.
    func counts(_ filter: FleetTaskFilter) async throws(FleetError) -> FleetCounts {
        let conditions = FleetConditions(filter, isStateJoined: true)
        let sql =
            filter == FleetTaskFilter()
            ? "\(Self.liveCounts) UNION ALL SELECT state, count(*) FROM fleet_end GROUP BY state"
            : """
            SELECT \(FleetTaskQuery.state) AS state, count(*)
            FROM fleet_task t \(FleetTaskQuery.positions) \(conditions.sql) GROUP BY 1
            """
        return try Self.counts(try await calls.run(sql, conditions.parameters))
    }

    /// The number of tasks in each state that is not an end.
    private static let liveCounts = """
        SELECT 'queued' AS state, coalesce(sum(queued), 0)::bigint AS n FROM fleet_lane WHERE is_open
        UNION ALL SELECT 'delayed', count(*) FROM fleet_delayed
        UNION ALL SELECT 'paused', count(*) FROM fleet_paused
        UNION ALL SELECT 'leased', count(*) FROM fleet_lease
        """

    private static func counts(_ answer: PostgresResult) throws(FleetError) -> FleetCounts {
        let pairs = try answer.map { (row) throws(PostgresError) in (try row.state(0), try row.integer(1)) }
        return FleetCounts(byState: Dictionary(pairs.filter { $0.1 > 0 }) { $1 })
    }

    /// Returns figures of the queue. Ended tasks are not counted, since that takes time for each.
    func queueFigures() async throws(FleetError) -> FleetQueueFigures {
        let counts = try Self.counts(try await calls.run(Self.liveCounts))
        return try await calls.run(
            """
            SELECT (SELECT count(*) FROM fleet_lane WHERE is_open),
                (SELECT extract(epoch FROM now() - min(f.queued_at)) FROM fleet_lane l CROSS JOIN LATERAL (
                    SELECT q.queued_at FROM fleet_queue q WHERE q.lane = l.id AND q.rank >= l.floor ORDER BY q.rank LIMIT 1
                ) f WHERE l.is_open),
                (SELECT coalesce(sum(l.queued), 0)::bigint FROM fleet_lane l WHERE l.is_open AND NOT EXISTS (
                    SELECT 1 FROM fleet_node n WHERE l.place = ANY (n.places) AND NOT n.is_down AND NOT n.is_draining)),
                (SELECT seq FROM fleet_event ORDER BY seq DESC LIMIT 1)
            """
        ).one { (row) throws(PostgresError) in
            FleetQueueFigures(
                counts: counts, openLanes: try row.integer(0), oldestQueued: try row.optionalNumber(1),
                withoutNode: try row.integer(2), newestEvent: try row.integer(3))
        }
    }

    /// The lanes with the most queued tasks; `limit` at most 1,000.
    func lanes(limit: Int) async throws(FleetError) -> [FleetLaneRow] {
        try await calls.run(
            """
            SELECT l.priority, o.name, nullif(g.name, ''), h.name, l.place, l.queued,
                (SELECT extract(epoch FROM now() - q.queued_at) FROM fleet_queue q
                    WHERE q.lane = l.id AND q.rank >= l.floor ORDER BY q.rank LIMIT 1)
            FROM fleet_lane l JOIN fleet_owner o ON o.id = l.owner
            JOIN fleet_group g ON g.id = l.group_id JOIN fleet_host h ON h.id = l.host
            WHERE l.is_open ORDER BY l.queued DESC, l.id LIMIT $1::bigint
            """, [String(min(max(limit, 1), FleetTaskPage.limit))]
        ).map { (row) throws(PostgresError) in
            FleetLaneRow(
                priority: try row.priority(0), owner: try row.text(1), group: try row.optional(2),
                host: try row.text(3),
                place: try row.text(4), queued: try row.integer(5), oldestQueued: try row.optionalNumber(6))
        }
    }
}
