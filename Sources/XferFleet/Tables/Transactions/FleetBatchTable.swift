import XferModel

extension FleetBatchTable {
    /// Makes a batch, or finds the one with the same `client_key`.
    func add(owner: String, name: String?, clientKey: String?, fingerprint: String)
        async throws(FleetError) -> FleetBatchOutcome
    {
        let added = try await calls.run(
            """
            INSERT INTO fleet_batch (owner, name, client_key, fingerprint) SELECT fleet_owner_of($1), $2, $3, $4
            ON CONFLICT (owner, client_key) DO NOTHING RETURNING id
            """, [owner, name, clientKey, fingerprint]
        ).map { (row) throws(PostgresError) in FleetBatchID(try row.integer(0)) }
        if let id = added.first { return .added(id) }
        return try await calls.run(
            """
            SELECT b.id, b.fingerprint = $3 FROM fleet_batch b JOIN fleet_owner o ON o.id = b.owner
            WHERE o.name = $1 AND b.client_key = $2
            """, [owner, clientKey, fingerprint]
        ).one { (row) throws(PostgresError) -> FleetBatchOutcome in
            let id = FleetBatchID(try row.integer(0))
            return try row.bool(1) ? .existing(id) : .conflict(id)
        }
    }

    /// A batch with the counts of its tasks; nil if there is none.
    func get(_ id: FleetBatchID) async throws(FleetError) -> FleetBatchRow? {
        try await rows("b.id = $1::bigint", [id.description], limit: 1).first
    }

    /// Batches of an owner, nil for all, that were added before `before`, the newest first; `limit` at most 1,000.
    func list(owner: String?, before: FleetBatchID?, limit: Int) async throws(FleetError) -> [FleetBatchRow] {
        try await rows(
            "($1::text IS NULL OR o.name = $1) AND b.id < $2::bigint", [owner, String(before?.rawValue ?? .max)],
            limit: min(max(limit, 1), FleetTaskPage.limit))
    }

    private func rows(_ condition: String, _ parameters: [String?], limit: Int) async throws(FleetError)
        -> [FleetBatchRow]
    {
        struct Head {
            let id: FleetBatchID
            let owner: String
            let name: String?
            let clientKey: String?
            let createdAt: Timestamp
        }
        let heads = try await calls.run(
            """
            SELECT b.id, o.name, b.name, b.client_key, \(FleetTaskQuery.time("b.created_at"))
            FROM fleet_batch b JOIN fleet_owner o ON o.id = b.owner WHERE \(condition) ORDER BY b.id DESC LIMIT \(limit)
            """, parameters
        ).map { (row) throws(PostgresError) in
            Head(
                id: FleetBatchID(try row.integer(0)), owner: try row.text(1), name: try row.optional(2),
                clientKey: try row.optional(3), createdAt: Timestamp(microseconds: try row.integer(4)))
        }
        let counts = try await calls.run(
            """
            SELECT t.batch, \(FleetTaskQuery.state) AS state, count(*)
            FROM fleet_task t \(FleetTaskQuery.positions) WHERE t.batch = ANY ($1::bigint[]) GROUP BY 1, 2
            """, [PostgresArray.integers(heads.map(\.id.rawValue))]
        ).map { (row) throws(PostgresError) in
            (FleetBatchID(try row.integer(0)), try row.state(1), try row.integer(2))
        }
        let byBatch = Dictionary(grouping: counts) { $0.0 }
        return heads.map { head in
            FleetBatchRow(
                id: head.id, owner: head.owner, name: head.name, clientKey: head.clientKey, createdAt: head.createdAt,
                counts: FleetCounts(
                    byState: Dictionary((byBatch[head.id] ?? []).map { ($0.1, $0.2) }, uniquingKeysWith: +)))
        }
    }
}
