import XferCore
import XferModel

extension FleetEventTable {
    /// Events after `since`, `limit` at most 1,000.
    func list(since: Int64, limit: Int, filter: FleetEventFilter = FleetEventFilter())
        async throws(FleetError) -> FleetEventPage
    {
        let limit = min(max(limit, 1), FleetEventPage.limit)
        // The bounds come first: an event that is committed between the two statements is read with the next page.
        let bounds = try await calls.run(
            "SELECT (SELECT seq FROM fleet_event ORDER BY seq DESC LIMIT 1), oldest_event FROM fleet_meta"
        ).one { (row) throws(PostgresError) in (newest: try row.integer(0), oldest: try row.integer(1)) }
        let until = min(bounds.newest, max(since, bounds.oldest - 1).addingSaturated(Self.window(filter, limit)))
        let events = try await calls.run(
            """
            SELECT v.seq, \(FleetTaskQuery.time("v.at")), v.kind, v.task, o.name, v.node, v.detail
            FROM fleet_event v LEFT JOIN fleet_owner o ON o.id = v.owner
            WHERE v.seq > $1::bigint AND v.seq <= $2::bigint
                AND ($3::text IS NULL OR o.name = $3) AND ($4::text[] IS NULL OR v.kind = ANY ($4))
                AND ($5::bigint[] IS NULL OR v.task = ANY ($5))
            ORDER BY v.seq LIMIT $6::bigint
            """,
            [
                String(since), String(until), filter.owner,
                filter.kinds.map { PostgresArray.texts($0.map(\.rawValue)) },
                filter.tasks.map { PostgresArray.integers($0.map(\.rawValue)) }, String(limit),
            ]
        ).map(Self.event)
        let isFull = events.count == limit
        let next = isFull ? events.last?.seq ?? until : until
        return FleetEventPage(
            events: events, next: max(since, next), newest: bounds.newest, oldest: bounds.oldest)
    }

    /// The number of the newest event. Numbers are given in the order of commits.
    func newest() async throws(FleetError) -> Int64 {
        try await calls.run("SELECT (SELECT seq FROM fleet_event ORDER BY seq DESC LIMIT 1)").one {
            (row) throws(PostgresError) in try row.integer(0)
        }
    }

    /// The number of events that one page reads: with a filter more than it returns, and never all.
    private static func window(_ filter: FleetEventFilter, _ limit: Int) -> Int64 {
        filter == FleetEventFilter() ? Int64(clamping: limit) : 100_000
    }

    private static func event(_ row: PostgresRow) throws(PostgresError) -> FleetEvent {
        let name = try row.text(2)
        guard let kind = FleetEvent.Kind(rawValue: name) else { throw PostgresError(.form, "\(name) is not an event") }
        return FleetEvent(
            seq: try row.integer(0), at: Timestamp(microseconds: try row.integer(1)), kind: kind,
            task: try row.optionalInteger(3).map { FleetTaskID($0) }, owner: try row.optional(4),
            node: try row.optional(5), detail: try row.text(6))
    }

    /// Removes all but the newest `keepEvents` events, and tasks that ended earlier than `history` ago, in a small
    /// step.
    ///
    /// - Returns: true if there is more to remove.
    public func trim(keepEvents: Int64, history: Duration) async throws(FleetError) -> Bool {
        try await work.run(
            "SELECT fleet_trim($1::bigint, $2::bigint, 2000)",
            [String(keepEvents), String(max(0, history.wholeMicroseconds))]
        ).one { (row) throws(PostgresError) in try row.bool(0) }
    }
}
