import XferModel

extension FleetTokenTable {
    private static let columns =
        "id, name, digest, owner, scope, \(FleetTaskQuery.time("created_at")), \(FleetTaskQuery.time("expires_at"))"

    /// All tokens by name, expired ones too.
    func list() async throws(FleetError) -> [FleetToken] {
        // An agent reads them beside its beats: it must not wait for a long list.
        try await beats.run("SELECT \(Self.columns) FROM fleet_token ORDER BY name").map(Self.token)
    }

    /// Adds a token.
    ///
    /// - Parameter digest: SHA-256 of the token in hexadecimal.
    func add(
        _ name: String, digest: String, owner: String, scope: TokenScope, expiresAt: Timestamp?
    ) async throws(FleetError) -> FleetTokenOutcome {
        let added = try await calls.run(
            """
            INSERT INTO fleet_token (name, digest, owner, scope, expires_at)
            SELECT $1, $2, $3, $4, timestamptz 'epoch' + $5::bigint * interval '1 microsecond'
            WHERE (SELECT count(*) FROM fleet_token) < \(FleetToken.limit)
            ON CONFLICT (name) DO NOTHING RETURNING \(Self.columns)
            """, [name, digest, owner, scope.rawValue, expiresAt.map { String($0.rawValue) }]
        ).map(Self.token)
        if let token = added.first { return .added(token) }
        let isKnown = try await calls.run("SELECT 1 FROM fleet_token WHERE name = $1", [name]).count > 0
        return isKnown ? .nameTaken : .tooMany
    }

    /// Revokes a token.
    ///
    /// - Returns: the token's id; nil if there was none.
    func revoke(_ name: String) async throws(FleetError) -> Int64? {
        try await calls.run("DELETE FROM fleet_token WHERE name = $1 RETURNING id", [name])
            .map { (row) throws(PostgresError) in try row.integer(0) }.first
    }

    private static func token(_ row: PostgresRow) throws(PostgresError) -> FleetToken {
        let scope = try row.text(4)
        guard let known = TokenScope(rawValue: scope) else {
            throw PostgresError(.form, "there is no scope \(scope.prefix(40))")
        }
        return FleetToken(
            id: try row.integer(0), name: try row.text(1), digest: try row.text(2), owner: try row.text(3),
            scope: known, createdAt: Timestamp(microseconds: try row.integer(5)), expiresAt: try row.optionalTime(6))
    }
}
