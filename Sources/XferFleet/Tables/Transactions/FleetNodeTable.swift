import XferCore
import XferModel

extension FleetNodeTable {
    /// Makes this agent the node's only one: it raises `incarnation`.
    ///
    /// - Throws: `nodeNameTaken` if another store has the name and is not down.
    public func register(_ node: FleetNodeDescription) async throws(FleetError) -> FleetRegistration {
        guard FleetPlace.isName(node.name) else {
            throw .invalid(field: "node", reason: "\(node.name) is not a valid name")
        }
        if let label = node.labels.first(where: { !FleetPlace.isName($0) }) {
            throw .invalid(field: "labels", reason: "\(label) is not a valid name")
        }
        if let storage = node.storages.first(where: { !FleetPlace.isName($0) }) {
            throw .invalid(field: "storages", reason: "\(storage) is not a valid name")
        }
        let digests = node.digests.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        let places = node.places.map(\.description)
        let answer = try await work.run(
            """
            SELECT r.node, r.incarnation, r.applied, m.fleet FROM fleet_meta m, fleet_register(
                $1, $2, $3::text[], $4::text[], $5::integer, $6::text[], $7) r
            """,
            [
                node.name, node.storeID, PostgresArray.texts(places), PostgresArray.texts(node.labels.sorted()),
                String(Int32(clamping: node.slots)), PostgresArray.texts(digests), node.version,
            ])
        guard answer.count == 1 else { throw .nodeNameTaken(node: node.name) }
        return try answer.one { (row) throws(PostgresError) in
            FleetRegistration(
                node: FleetNodeID(try row.integer(0)), name: node.name, incarnation: try row.integer(1),
                applied: try row.integer(2), fleet: try row.text(3))
        }
    }

    /// Allows the node to claim tasks again that it has declined: its settings or its daemon's may have changed.
    ///
    /// - Returns: true if there were any.
    func forgetRefusals(_ registration: FleetRegistration) async throws(FleetError) -> Bool {
        try await work.run(
            "DELETE FROM fleet_declined WHERE node = $1::bigint", [registration.node.description]
        ).affected > 0
    }

    /// The identity of the fleet; changes with a new database.
    func fleetID() async throws(FleetError) -> String {
        try await calls.run("SELECT fleet FROM fleet_meta").one { (row) throws(PostgresError) in try row.text(0) }
    }

    /// All nodes, by name.
    ///
    /// - Parameter isCounting: true to count leases and pinned tasks. Observers of beats leave that out: it is the
    ///   only part whose cost grows with the queue.
    func list(isCounting: Bool = true) async throws(FleetError) -> [FleetNodeRow] {
        let counts =
            isCounting
            ? """
            (SELECT count(*) FROM fleet_lease e WHERE e.node = n.id),
            (SELECT coalesce(sum(l.queued), 0) FROM fleet_lane l WHERE l.is_open AND l.place = 'node:' || n.name)
            """ : "0, 0"
        // Beats have a connection of their own: an observer must not take a long list for a broken contact.
        let connection = isCounting ? calls : beats
        return try await connection.run(
            """
            SELECT \(Self.nodeColumns(counts)) FROM fleet_node n JOIN fleet_beat b ON b.node = n.id ORDER BY n.name
            """
        ).map(Self.node)
    }

    /// The columns of a node n and its beat b that `node` reads.
    static func nodeColumns(_ counts: String) -> String {
        """
        n.id, n.name, array_to_string(n.labels, ' '), n.slots, n.store_id, array_to_string(n.digests, E'\\n'),
        n.version, n.incarnation, b.beat, n.is_draining, n.is_down,
        n.is_down AND NOT n.is_settled, b.figures, \(counts), array_to_string(n.places, ' ')
        """
    }

    static func node(_ row: PostgresRow) throws(PostgresError) -> FleetNodeRow {
        let digests = try row.text(5).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let pairs = stride(from: 0, to: digests.count - 1, by: 2).map { (digests[$0], digests[$0 + 1]) }
        return FleetNodeRow(
            id: FleetNodeID(try row.integer(0)),
            description: FleetNodeDescription(
                name: try row.text(1), labels: Set(try row.text(2).split(separator: " ").map(String.init)),
                storages: Set(
                    try row.text(15).split(separator: " ").compactMap { FleetPlace(String($0))?.storage }),
                slots: Int(clamping: try row.integer(3)), storeID: try row.text(4),
                digests: Dictionary(pairs) { $1 }, version: try row.text(6)),
            incarnation: try row.integer(7), beat: try row.integer(8),
            isDraining: try row.bool(9), isDown: try row.bool(10),
            needsTakeover: try row.bool(11), leases: Int(clamping: try row.integer(13)),
            pinned: Int(clamping: try row.integer(14)), figures: try row.optional(12))
    }

    /// Sets if the node drains. A node that drains claims nothing more.
    func setDraining(_ node: String, _ isDraining: Bool) async throws(FleetError) {
        let answer = try await calls.run("SELECT fleet_drain($1, $2::boolean)", [node, isDraining ? "t" : "f"])
        guard try answer.one({ (row) throws(PostgresError) in try row.bool(0) }) else { throw .noSuchNode(node) }
    }
}
