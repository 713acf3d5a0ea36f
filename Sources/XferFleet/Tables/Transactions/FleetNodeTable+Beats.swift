import XferCore

/// The calls of an idle agent: it beats, and checks if there is work. Each wakes as few threads as possible.
extension FleetNodeTable {
    /// Records a beat, and reads the data that every beat needs, in one statement.
    ///
    /// - Parameter figures: JSON text for the list of nodes, at most 64 KiB; nil leaves the last one.
    /// - Returns: nil if the registration is superseded, or the node is considered down or was removed: the agent stops
    ///   its work and registers again only if it may.
    func beat(_ registration: FleetRegistration, figures: String?) async throws(FleetError) -> FleetBeat? {
        if let figures, figures.utf8.count > FleetEnd.detailLimit {
            throw .invalid(field: "figures", reason: "longer than \(FleetEnd.detailLimit) bytes")
        }
        return try Self.beat(try await beats.run(Self.beatStatement, Self.beatParameters(registration, figures)))
    }

    /// Beats after that time, unless `cancelBeat` is called before. No other thread wakes up before the answer.
    ///
    /// - Parameter then: called on the connection's thread; must not block.
    func beat(
        _ registration: FleetRegistration, after time: Duration,
        then: @escaping @Sendable (Result<FleetBeat?, FleetError>) -> Void
    ) {
        beats.execute(Self.beatStatement, Self.beatParameters(registration, nil), at: .now.advanced(by: time)) {
            answer in
            then(
                Result { () throws(FleetError) in
                    switch answer {
                    case .success(let result): try Self.beat(result)
                    case .failure(let error): throw .database(error)
                    }
                })
        }
    }

    /// Cancels the timed beat. One that is sent already is answered.
    func cancelBeat() { beats.cancelTimed() }

    private static func beatParameters(_ registration: FleetRegistration, _ figures: String?) -> [String?] {
        [registration.node.description, String(registration.incarnation), figures]
    }

    private static let beatStatement = """
        WITH own AS (
            UPDATE fleet_beat SET beat = beat + 1, at = clock_timestamp(), figures = coalesce($3, figures)
            WHERE node = $1::bigint AND incarnation = $2::bigint RETURNING node
        ) SELECT \(nodeColumns("0, 0")), (SELECT count(*) FROM own), m.receive_rate, m.send_rate,
            EXISTS (SELECT 1 FROM fleet_delayed d WHERE d.due <= now()), \(hasWork(isClaiming: "true"))
        FROM fleet_meta m, fleet_node n JOIN fleet_beat b ON b.node = n.id ORDER BY n.name
        """

    private static func beat(_ answer: PostgresResult) throws(FleetError) -> FleetBeat? {
        let nodes = try answer.map(Self.node)
        guard answer.count > 0 else { return nil }
        return try answer.one { (row) throws(PostgresError) -> FleetBeat? in
            guard try row.integer(16) == 1 else { return nil }
            let sharing = nodes.count { !$0.isDown && !$0.isDraining }
            return FleetBeat(
                nodes: nodes,
                rates: FleetRates(
                    receive: try row.integer(17), send: try row.integer(18), liveNodes: max(1, sharing)),
                hasDue: try row.bool(19), hasWork: try row.bool(20))
        }
    }

    // MARK: Watching

    /// The condition that there is a request for the node, or a task that it could claim now.
    private static func hasWork(isClaiming: String) -> String {
        """
        (EXISTS (SELECT 1 FROM fleet_wish WHERE node = $1::bigint) OR \(isClaiming) AND EXISTS (
            SELECT 1 FROM fleet_lane l
            WHERE l.is_open AND l.place = ANY ((SELECT v.places FROM fleet_node v WHERE v.id = $1::bigint)::text[])
                AND fleet_lane_is_free(l.owner, l.group_id, l.host)))
        """
    }

    /// Signals when there is a wish for the node or a task that it could claim.
    ///
    /// It checks when an agent announces a change (`announce`), and once an interval while a limit prevents claims of
    /// the node, or while the server cannot notify this agent.
    ///
    /// - Parameters:
    ///   - isClaiming: true if the node would claim a task.
    ///   - ring: called on the connection's thread; must not block.
    func watch(
        _ registration: FleetRegistration, isClaiming: Bool, every interval: Duration,
        ring: @escaping @Sendable () -> Void
    ) {
        work.watch(
            PostgresWatch(
                """
                SELECT \(Self.hasWork(isClaiming: "$2::boolean")), $2::boolean AND EXISTS (
                    SELECT 1 FROM fleet_lane l WHERE l.is_open
                        AND l.place = ANY ((SELECT v.places FROM fleet_node v WHERE v.id = $1::bigint)::text[]))
                """, [registration.node.description, isClaiming ? "t" : "f"], channel: Self.channel, every: interval,
                ring: ring))
    }

    func endWatch() { work.endWatch() }

    /// Notifies all agents to check for work. A transaction of its own: transactions that change something are not
    /// delayed by it, and if it is lost the next beat checks.
    func announce() async throws(FleetError) { _ = try await calls.run("NOTIFY \(Self.channel)") }

    private static let channel = "xfer_fleet"
}
