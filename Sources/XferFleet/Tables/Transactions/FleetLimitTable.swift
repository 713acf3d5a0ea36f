import XferModel

extension FleetLimitTable {
    /// Counts of one owner's, group's or host's tasks; `l` is its lane.
    private static func counts(_ column: String, _ id: String) -> String {
        """
        (SELECT coalesce(sum(l.queued), 0)::bigint FROM fleet_lane l WHERE l.\(column) = \(id) AND l.is_open),
        (SELECT count(*) FROM fleet_lease e JOIN fleet_lane l ON l.id = e.lane WHERE l.\(column) = \(id))
        """
    }

    /// Groups of an owner, nil for all.
    func groups(owner: String?) async throws(FleetError) -> [FleetGroupRow] {
        try await calls.run(
            """
            SELECT o.name, g.name, g.max_active, g.is_paused, \(Self.counts("group_id", "g.id"))
            FROM fleet_group g JOIN fleet_owner o ON o.id = g.owner
            WHERE g.name <> '' AND ($1::text IS NULL OR o.name = $1) ORDER BY o.name, g.name
            """, [owner]
        ).map { (row) throws(PostgresError) in
            FleetGroupRow(
                owner: try row.text(0), name: try row.text(1),
                maxActive: try row.optionalInteger(2).map { Int(clamping: $0) }, isPaused: try row.bool(3),
                queued: try row.integer(4), leased: try row.integer(5))
        }
    }

    /// Sets the highest number of a group's tasks that the whole fleet runs at the same time; nil removes the limit.
    /// Creates the group if there is none.
    func setGroup(owner: String, name: String, maxActive: Int?) async throws(FleetError) {
        guard !name.isEmpty else { throw .invalid(field: "group", reason: "the name is empty") }
        let limit = try Self.limit(maxActive)
        _ = try await calls.run("SELECT fleet_limit_group($1, $2, $3::integer)", [owner, name, limit])
    }

    /// Pauses or resumes the claiming of a group's tasks. Creates the group if there is none.
    func setGroup(owner: String, name: String, isPaused: Bool) async throws(FleetError) {
        guard !name.isEmpty else { throw .invalid(field: "group", reason: "the name is empty") }
        _ = try await calls.run("SELECT fleet_pause_group($1, $2, $3::boolean)", [owner, name, isPaused ? "t" : "f"])
    }

    /// Hosts that have a limit, a cool-down, or queued or leased tasks.
    func hosts() async throws(FleetError) -> [FleetHostRow] {
        try await calls.run(
            """
            SELECT * FROM (
                SELECT h.name, h.max_active,
                    (extract(epoch FROM CASE WHEN h.cooldown_until > now() THEN h.cooldown_until END) * 1000000)::bigint,
                    \(Self.counts("host", "h.id"))
                FROM fleet_host h
            ) AS x(name, max_active, cooldown, queued, leased)
            WHERE max_active IS NOT NULL OR cooldown IS NOT NULL OR queued > 0 OR leased > 0 ORDER BY name
            """
        ).map { (row) throws(PostgresError) in
            FleetHostRow(
                name: try row.text(0), maxActive: try row.optionalInteger(1).map { Int(clamping: $0) },
                cooldownUntil: try row.optionalTime(2), queued: try row.integer(3), leased: try row.integer(4))
        }
    }

    /// Sets the highest number of tasks for a host that the whole fleet runs at once; nil removes the limit.
    public func setHost(_ name: String, maxActive: Int?) async throws(FleetError) {
        let limit = try Self.limit(maxActive)
        _ = try await calls.run("SELECT fleet_limit_host($1, $2::integer)", [name, limit])
    }

    /// Starts a cooldown, during which nothing is claimed for the host; a shorter one never ends a longer one.
    func coolDown(host: String, for duration: Duration) async throws(FleetError) {
        _ = try await work.run(
            "SELECT fleet_cool_down($1, $2::bigint)", [host, String(max(0, duration.wholeMicroseconds))])
    }

    /// All owners that ever had a task or a limit.
    func owners() async throws(FleetError) -> [FleetOwnerRow] {
        try await calls.run(
            "SELECT o.name, o.max_active, \(Self.counts("owner", "o.id")) FROM fleet_owner o ORDER BY o.name"
        ).map { (row) throws(PostgresError) in
            FleetOwnerRow(
                name: try row.text(0), maxActive: try row.optionalInteger(1).map { Int(clamping: $0) },
                queued: try row.integer(2), leased: try row.integer(3))
        }
    }

    /// Sets the highest number of an owner's tasks that the whole fleet runs at once; nil removes the limit.
    func setOwner(_ name: String, maxActive: Int?) async throws(FleetError) {
        let limit = try Self.limit(maxActive)
        _ = try await calls.run("SELECT fleet_limit_owner($1, $2::integer)", [name, limit])
    }

    private static func limit(_ maxActive: Int?) throws(FleetError) -> String? {
        guard let maxActive else { return nil }
        guard GroupLimits.activeRange.contains(Int64(clamping: maxActive)) else {
            throw .invalid(
                field: "max_active", reason: "\(maxActive) is not in 1 … \(GroupLimits.activeRange.upperBound)")
        }
        return String(maxActive)
    }

    /// Rates of the whole fleet, and how many nodes share them.
    func rates() async throws(FleetError) -> FleetRates {
        try await work.run(
            """
            SELECT receive_rate, send_rate, (SELECT count(*) FROM fleet_node WHERE NOT is_down AND NOT is_draining)
            FROM fleet_meta
            """
        ).one { (row) throws(PostgresError) in
            FleetRates(
                receive: try row.integer(0), send: try row.integer(1),
                liveNodes: max(1, Int(clamping: try row.integer(2))))
        }
    }

    /// Sets the rates of the whole fleet in bytes per second; 0 is unlimited, nil leaves the rate unchanged.
    func setRates(receive: Int64?, send: Int64?) async throws(FleetError) {
        guard receive ?? 0 >= 0, send ?? 0 >= 0 else { throw .invalid(field: "rate", reason: "a rate is negative") }
        _ = try await calls.run(
            """
            UPDATE fleet_meta SET receive_rate = coalesce($1::bigint, receive_rate),
                send_rate = coalesce($2::bigint, send_rate)
            """, [receive.map { String($0) }, send.map { String($0) }])
    }

    /// True if the node's xferd has a share of the fleet's rates, so that it has to be removed when there are no rates.
    func hasShare(_ registration: FleetRegistration) async throws(FleetError) -> Bool {
        try await work.run("SELECT 1 FROM fleet_share WHERE node = $1::bigint", [registration.node.description]).count
            > 0
    }

    /// Records that, before the share is set or after it was removed.
    func setShare(_ registration: FleetRegistration, _ hasShare: Bool) async throws(FleetError) {
        let statement =
            hasShare
            ? "INSERT INTO fleet_share VALUES ($1::bigint) ON CONFLICT DO NOTHING"
            : "DELETE FROM fleet_share WHERE node = $1::bigint"
        _ = try await work.run(statement, [registration.node.description])
    }
}
