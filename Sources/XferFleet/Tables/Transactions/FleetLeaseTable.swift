import XferCore
import XferModel

extension FleetLeaseTable {
    /// Claims up to `want` tasks, of the highest priority first, within all limits.
    ///
    /// - Throws: `superseded`.
    public func claim(_ registration: FleetRegistration, want: Int, cursor: inout FleetClaimCursor)
        async throws(FleetError) -> [FleetClaim]
    {
        guard want > 0 else { return [] }
        let rows = try await work.run(
            """
            SELECT task, claim, owner, priority, group_name, host, place, batch, label, is_repeatable, attempt, spec, limits,
                lane
            FROM fleet_claim($1::bigint, $2::bigint, $3::integer, $4::integer, $5::bigint)
            """,
            [
                registration.node.description, String(registration.incarnation), String(min(want, ClaimRules.most)),
                String(ClaimRules.lanes), String(cursor.lane),
            ], node: registration.name
        ).map { (row) throws(PostgresError) in (try Self.claim(row), lane: try row.integer(13)) }
        if let last = rows.last { cursor.lane = last.lane }
        return rows.map(\.0)
    }

    private static func claim(_ row: PostgresRow) throws(PostgresError) -> FleetClaim {
        FleetClaim(
            claimKey: FleetClaimKey(task: FleetTaskID(try row.integer(0)), claim: try row.claim(1)),
            owner: try row.text(2),
            priority: try row.priority(3), group: try row.optional(4), host: try row.text(5), place: try row.place(6),
            batch: try row.optionalInteger(7).map { FleetBatchID($0) }, label: try row.optional(8),
            isRepeatable: try row.bool(9), attempt: Int(clamping: try row.integer(10)), spec: try row.text(11),
            limits: try row.optional(12))
    }

    /// Records that the node is about to pass these tasks to its daemon: from here on a request that must not be
    /// repeated may have been made. Needed only for tasks that are not repeatable.
    ///
    /// - Returns: tasks whose claim is void: they must not begin.
    func begin(_ registration: FleetRegistration, _ claimKeys: [FleetClaimKey]) async throws(FleetError)
        -> [FleetTaskID]
    {
        guard !claimKeys.isEmpty else { return [] }
        return try await work.run(
            "SELECT lost FROM fleet_begin($1::bigint, $2::bigint, $3::bigint[], $4::uuid[])",
            [registration.node.description, String(registration.incarnation)] + claimKeys.arrays,
            node: registration.name
        ).map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) }
    }

    /// The node's leases, by task.
    func list(_ registration: FleetRegistration) async throws(FleetError) -> [FleetLease] {
        try await list(ofNode: registration.node, after: nil, limit: nil)
    }

    func list(ofNode node: FleetNodeID, after: FleetTaskID?, limit: Int?) async throws(FleetError) -> [FleetLease] {
        try await work.run(
            """
            SELECT e.task, e.claim, l.place, t.is_repeatable, e.has_begun, e.is_cancelling,
                EXISTS (SELECT 1 FROM fleet_permit p WHERE p.task = e.task AND p.claim = e.claim)
            FROM fleet_lease e JOIN fleet_lane l ON l.id = e.lane JOIN fleet_task t ON t.id = e.task
            WHERE e.node = $1::bigint AND e.task > $2::bigint ORDER BY e.task LIMIT $3::bigint
            """, [node.description, String(after?.rawValue ?? 0), limit.map { String($0) }]
        ).map { (row) throws(PostgresError) in
            FleetLease(
                claimKey: FleetClaimKey(task: FleetTaskID(try row.integer(0)), claim: try row.claim(1)),
                place: try row.place(2),
                isRepeatable: try row.bool(3), hasBegun: try row.bool(4), isCancelling: try row.bool(5),
                isPublishing: try row.bool(6))
        }
    }

    /// Wishes that wait for this node, in their order, at most 1,000.
    func wishes(_ registration: FleetRegistration) async throws(FleetError) -> [FleetLeaseWish] {
        try await work.run(
            "SELECT id, task, claim, wish, argument FROM fleet_wish WHERE node = $1::bigint ORDER BY id LIMIT 1000",
            [registration.node.description]
        ).map { (row) throws(PostgresError) in
            let name = try row.text(3)
            guard let wish = FleetWish(name: name, argument: try row.optional(4)) else {
                throw PostgresError(.form, "\(name) is not a wish")
            }
            return FleetLeaseWish(
                id: try row.integer(0),
                claimKey: FleetClaimKey(task: FleetTaskID(try row.integer(1)), claim: try row.claim(2)), wish: wish)
        }
    }
}

extension [FleetClaimKey] {
    /// The arrays for `bigint[]` and `uuid[]`.
    var arrays: [String?] {
        [PostgresArray.integers(map(\.task.rawValue)), PostgresArray.texts(map(\.claim.text))]
    }
}

extension PostgresRow {
    func claim(_ column: Int) throws(PostgresError) -> FleetClaimID {
        let text = try text(column)
        guard let claim = FleetClaimID(text) else { throw PostgresError(.form, "\(text) is not a claim") }
        return claim
    }

    func place(_ column: Int) throws(PostgresError) -> FleetPlace {
        let text = try text(column)
        guard let place = FleetPlace(text) else { throw PostgresError(.form, "\(text) is not a place") }
        return place
    }

    func priority(_ column: Int) throws(PostgresError) -> Priority {
        let number = try integer(column)
        guard let priority = Priority(rawValue: Int(clamping: number)) else {
            throw PostgresError(.form, "\(number) is not a priority")
        }
        return priority
    }

    func state(_ column: Int) throws(PostgresError) -> FleetTaskState {
        let text = try text(column)
        guard let state = FleetTaskState(rawValue: text) else { throw PostgresError(.form, "\(text) is not a state") }
        return state
    }

    /// The time in a column: microseconds since 1970.
    func optionalTime(_ column: Int) throws(PostgresError) -> Timestamp? {
        try optionalInteger(column).map { Timestamp(microseconds: $0) }
    }
}
