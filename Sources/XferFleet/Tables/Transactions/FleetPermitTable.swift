import XferModel

extension FleetPermitTable {
    private static let columns = "task, claim, storage, directory, part, name, inode, size, modified_at, was_cancelling"

    /// Requests permits to publish, before the first of the files gets its name.
    ///
    /// - Returns: tasks whose claim is void: they must not be published.
    /// - Throws: `superseded`.
    func give(_ registration: FleetRegistration, _ permits: [FleetPermit])
        async throws(FleetError) -> [FleetTaskID]
    {
        guard !permits.isEmpty else { return [] }
        return try await work.run(
            """
            SELECT lost FROM fleet_permit($1::bigint, $2::bigint, $3::bigint[], $4::uuid[], $5::text[], $6::text[],
                $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[])
            """,
            [registration.node.description, String(registration.incarnation)] + permits.map(\.claimKey).arrays + [
                PostgresArray.texts(permits.map(\.storage)), PostgresArray.texts(permits.map(\.directory)),
                PostgresArray.texts(permits.map(\.part)), PostgresArray.texts(permits.map(\.name)),
                PostgresArray.integers(permits.map { Int64(bitPattern: $0.inode) }),
                PostgresArray.integers(permits.map(\.size)), PostgresArray.integers(permits.map(\.modifiedAt)),
            ], node: registration.name
        ).map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) }
    }

    /// Permits of earlier claims of these tasks that no node has checked yet.
    func open(_ claimKeys: [FleetClaimKey]) async throws(FleetError) -> [FleetOpenPermit] {
        guard !claimKeys.isEmpty else { return [] }
        return try await work.run(
            """
            SELECT \(Self.columns) FROM fleet_permit p
            WHERE p.task = ANY ($1::bigint[]) AND p.is_open AND p.claim <> ALL ($2::uuid[]) ORDER BY p.task
            """, claimKeys.arrays
        ).map(Self.permit)
    }

    /// Records that nothing of these tasks was published under an earlier claim.
    ///
    /// - Returns: tasks whose claim is now void.
    /// - Throws: `superseded`.
    func close(_ registration: FleetRegistration, _ claimKeys: [FleetClaimKey])
        async throws(FleetError) -> [FleetTaskID]
    {
        guard !claimKeys.isEmpty else { return [] }
        return try await work.run(
            "SELECT lost FROM fleet_close_permits($1::bigint, $2::bigint, $3::bigint[], $4::uuid[])",
            [registration.node.description, String(registration.incarnation)] + claimKeys.arrays,
            node: registration.name
        ).map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) }
    }

    /// The node's permits to publish for tasks that it no longer has.
    func list(_ registration: FleetRegistration, ofTasks tasks: [FleetTaskID])
        async throws(FleetError) -> [FleetPermit]
    {
        guard !tasks.isEmpty else { return [] }
        return try await work.run(
            "SELECT \(Self.columns) FROM fleet_permit p WHERE p.node = $1::bigint AND p.task = ANY ($2::bigint[])",
            [registration.node.description, PostgresArray.integers(tasks.map(\.rawValue))]
        ).map(Self.permit).map(\.permit)
    }

    private static func permit(_ row: PostgresRow) throws(PostgresError) -> FleetOpenPermit {
        FleetOpenPermit(
            permit: FleetPermit(
                claimKey: FleetClaimKey(task: FleetTaskID(try row.integer(0)), claim: try row.claim(1)),
                storage: try row.text(2), directory: try row.text(3), part: try row.text(4), name: try row.text(5),
                inode: UInt64(bitPattern: try row.integer(6)), size: try row.integer(7),
                modifiedAt: try row.integer(8)), wasCancelling: try row.bool(9))
    }
}
