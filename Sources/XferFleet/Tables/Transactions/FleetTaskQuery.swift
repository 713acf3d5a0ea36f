import XferCore
import XferModel

/// Parts of statements that read tasks.
enum FleetTaskQuery {
    /// A task is in one of these tables at a time. `t` is `fleet_task`.
    static let positions = """
        LEFT JOIN fleet_end e ON e.task = t.id LEFT JOIN fleet_lease s ON s.task = t.id
        LEFT JOIN fleet_paused p ON p.task = t.id LEFT JOIN fleet_delayed d ON d.task = t.id
        """

    /// The state with the names of `FleetTaskState`.
    static let state = """
        CASE WHEN e.task IS NOT NULL THEN e.state WHEN s.task IS NOT NULL THEN 'leased'
            WHEN p.task IS NOT NULL THEN 'paused' WHEN d.task IS NOT NULL THEN 'delayed' ELSE 'queued' END
        """

    /// Microseconds since 1970: texts of times depend on settings of the session.
    static func time(_ column: String) -> String { "(extract(epoch FROM \(column)) * 1000000)::bigint" }

    /// A row of `fleet_show`.
    static func task(_ row: PostgresRow) throws(PostgresError) -> FleetTask {
        FleetTask(
            id: FleetTaskID(try row.integer(0)), owner: try row.text(1), clientKey: try row.optional(2),
            priority: try row.priority(3), group: try row.optional(4), host: try row.text(5), place: try row.place(6),
            batch: try row.optionalInteger(7).map { FleetBatchID($0) }, label: try row.optional(8),
            isRepeatable: try row.bool(9), state: try row.state(10),
            addedAt: Timestamp(microseconds: try row.integer(11)), notBefore: try row.optionalTime(12),
            endedAt: try row.optionalTime(13), attempt: Int(clamping: try row.integer(14)), node: try row.optional(15),
            isNodeDown: try row.bool(16), hasBegun: try row.bool(17), received: try row.optionalInteger(18),
            total: try row.optionalInteger(19), reason: try row.optional(20), hasResult: try row.bool(21),
            detail: try row.optional(22), spec: try row.optional(23))
    }
}
