import XferCore
import XferModel

extension FleetTakeovers {
    /// The number of leases and tasks that are decided on in one transaction.
    private static let step = 500

    /// Takes over the leases of a node that an observer considers dead, unless it has beaten or registered since. Also
    /// finishes the takeover of another observer (`FleetNodeRow.needsTakeover`).
    ///
    /// - Parameter observed: the row by which the observer judged.
    /// - Returns: true if the node is down now.
    func takeOver(_ observed: FleetNodeRow) async throws(FleetError) -> Bool {
        let isDown = try await work.run(
            "SELECT fleet_mark_down($1::bigint, $2::bigint, $3::bigint)",
            [observed.id.description, String(observed.incarnation), String(observed.beat)]
        ).one { (row) throws(PostgresError) in try row.bool(0) }
        guard isDown else { return false }
        try await settleAll(ofNode: observed.id, .dead)
        _ = try await work.run(
            "UPDATE fleet_node SET is_settled = true WHERE id = $1::bigint AND incarnation = $2::bigint AND is_down",
            [observed.id.description, String(observed.incarnation)])
        return true
    }

    /// Decides on leases of this node whose tasks are missing in its store (`TakeoverRules.Cause.unknownToNode`).
    func abandon(_ registration: FleetRegistration, _ claimKeys: [FleetClaimKey]) async throws(FleetError) {
        let wanted = Set(claimKeys)
        guard !wanted.isEmpty else { return }
        let leases = try await FleetLeaseTable(connections: connections).list(registration).filter {
            wanted.contains($0.claimKey)
        }
        for start in stride(from: 0, to: leases.count, by: Self.step) {
            try await settle(
                Array(leases[start..<min(start + Self.step, leases.count)]), ofNode: registration.node, .unknownToNode)
        }
    }

    private func settleAll(ofNode node: FleetNodeID, _ cause: TakeoverRules.Cause) async throws(FleetError) {
        var after: FleetTaskID?
        while true {
            let leases = try await FleetLeaseTable(connections: connections).list(
                ofNode: node, after: after, limit: Self.step)
            guard let last = leases.last else { return }
            after = last.claimKey.task
            try await settle(leases, ofNode: node, cause)
        }
    }

    private func settle(_ leases: [FleetLease], ofNode node: FleetNodeID, _ cause: TakeoverRules.Cause)
        async throws(FleetError)
    {
        let verdicts = leases.map { lease in
            TakeoverRules.judge(
                cause, place: lease.place, isRepeatable: lease.isRepeatable, hasBegun: lease.hasBegun,
                isCancelling: lease.isCancelling, isPublishing: lease.isPublishing)
        }
        let decided = zip(leases, verdicts).filter { $0.1 != .keep }
        guard !decided.isEmpty else { return }
        _ = try await work.run(
            """
            SELECT fleet_settle($1::bigint, $2::boolean, $3::bigint[], $4::uuid[], $5::boolean[], $6::text[], $7::text[], $8)
            """,
            [node.description, cause == .unknownToNode ? "f" : "t"] + decided.map(\.0.claimKey).arrays + [
                PostgresArray.bools(decided.map(\.0.hasBegun)), PostgresArray.texts(decided.map(\.1.name)),
                PostgresArray.texts(decided.map { $0.1.detail(cause) }), cause.rawValue,
            ])
    }

    /// The effects that `forget` would have on the node's tasks, at most 1,000 of them from the lowest id on.
    func forgetEffects(_ node: String, after: FleetTaskID?) async throws(FleetError) -> [FleetForgetEffect] {
        try await forgettable(node, after: after, limit: 1000).map { task in
            FleetForgetEffect(task: task.id, state: task.state, verdict: task.verdict)
        }
    }

    /// Requests of tasks for these shared storages, at most 1,000 from the lowest id on.
    func specifications(on storages: Set<String>, after: FleetTaskID?) async throws(FleetError)
        -> [(task: FleetTaskID, storage: String, spec: String)]
    {
        let places = storages.sorted().map { FleetPlace.storage($0).description }
        return try await calls.run(
            """
            SELECT t.id, l.place, t.spec FROM fleet_task t JOIN fleet_lane l ON l.id = t.lane
            WHERE t.id > $1::bigint AND l.place = ANY ($2::text[]) ORDER BY t.id LIMIT 1000
            """, [String(after?.rawValue ?? 0), PostgresArray.texts(places)]
        ).map { (row) throws(PostgresError) in
            (FleetTaskID(try row.integer(0)), try row.place(1).storage ?? "", try row.text(2))
        }
    }

    /// Removes a node that never comes back, after it has decided on all of its tasks.
    ///
    /// - Throws: `nodeIsUp` unless the node is down.
    func forget(_ node: String) async throws(FleetError) {
        guard
            let row = try await FleetNodeTable(connections: connections).list(isCounting: false).first(where: {
                $0.description.name == node
            })
        else {
            throw .noSuchNode(node)
        }
        guard row.isDown else { throw .nodeIsUp(node) }
        try await settleAll(ofNode: row.id, .forgotten)
        var after: FleetTaskID?
        while true {
            let tasks = try await forgettable(node, after: after, limit: Self.step)
            guard let last = tasks.last else { break }
            after = last.id
            _ = try await work.run(
                "SELECT fleet_end_waiting($1::bigint[], $2::text[], $3::text[], $4::text[])",
                [
                    PostgresArray.integers(tasks.map(\.id.rawValue)), PostgresArray.texts(tasks.map(\.state.rawValue)),
                    PostgresArray.texts(tasks.map(\.verdict.name)),
                    PostgresArray.texts(tasks.map { $0.verdict.detail(.forgotten) }),
                ])
        }
        let isGone = try await work.run("SELECT fleet_forget($1::bigint)", [row.id.description]).one {
            (row) throws(PostgresError) in try row.bool(0)
        }
        // It came back meanwhile, or a task was added to it.
        guard isGone else { throw .nodeIsUp(node) }
    }

    private struct Forgettable {
        let id: FleetTaskID
        let state: FleetTaskState
        let verdict: TakeoverRules.Verdict
    }

    /// Tasks that have not ended and that only this node can take, or that it has.
    private func forgettable(_ node: String, after: FleetTaskID?, limit: Int) async throws(FleetError) -> [Forgettable]
    {
        try await calls.run(
            """
            SELECT t.id, CASE WHEN s.task IS NOT NULL THEN 'leased' WHEN p.task IS NOT NULL THEN 'paused'
                    WHEN d.task IS NOT NULL THEN 'delayed' ELSE 'queued' END,
                l.place, t.is_repeatable, coalesce(s.has_begun, false), coalesce(s.is_cancelling, false),
                EXISTS (SELECT 1 FROM fleet_permit m WHERE m.task = s.task AND m.claim = s.claim)
            FROM fleet_task t JOIN fleet_lane l ON l.id = t.lane
            LEFT JOIN fleet_lease s ON s.task = t.id LEFT JOIN fleet_paused p ON p.task = t.id
            LEFT JOIN fleet_delayed d ON d.task = t.id LEFT JOIN fleet_node n ON n.id = s.node
            WHERE (l.place = 'node:' || $1 OR n.name = $1) AND t.id > $2::bigint
                AND NOT EXISTS (SELECT 1 FROM fleet_end e WHERE e.task = t.id)
            ORDER BY t.id LIMIT $3::bigint
            """, [node, String(after?.rawValue ?? 0), String(limit)]
        ).map { (row) throws(PostgresError) in
            Forgettable(
                id: FleetTaskID(try row.integer(0)), state: try row.state(1),
                verdict: TakeoverRules.judge(
                    .forgotten, place: try row.place(2), isRepeatable: try row.bool(3), hasBegun: try row.bool(4),
                    isCancelling: try row.bool(5), isPublishing: try row.bool(6)))
        }
    }
}

extension TakeoverRules.Verdict {
    /// The name that `fleet_settle` reads.
    fileprivate var name: String {
        switch self {
        case .queue: "queue"
        case .keep: "keep"
        case .end(let ending): ending.rawValue
        }
    }

    /// Returns the JSON text for the end.
    fileprivate func detail(_ cause: TakeoverRules.Cause) -> String {
        switch self {
        case .queue, .keep, .end(.completed), .end(.cancelled): "{}"
        case .end(.outcomeUnknown):
            #"{"error":{"kind":"outcome_unknown","message":"the node that may have made the request is gone"}}"#
        case .end(.failed):
            #"{"error":{"kind":"node_forgotten","message":"the only node that could take the task was forgotten"}}"#
        }
    }
}
