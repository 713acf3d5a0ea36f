import XferCore
import XferModel

/// Conditions of a statement on `fleet_task t`, with the joins they need and their parameters.
struct FleetConditions {
    private(set) var parameters: [String?] = []
    private var parts: [String] = []
    private var joins: [String] = []

    /// - Parameter isStateJoined: true if the statement joins `FleetTaskQuery.positions` itself.
    init(_ filter: FleetTaskFilter, isStateJoined: Bool) {
        if filter.group != nil || filter.host != nil || filter.place != nil {
            joins.append("JOIN fleet_lane l ON l.id = t.lane")
        }
        if let states = filter.states { add(states, isStateJoined) }
        add(filter.owner) { "t.owner = (SELECT x.id FROM fleet_owner x WHERE x.name = \($0))" }
        add(filter.group) { "l.group_id = ANY (ARRAY(SELECT x.id FROM fleet_group x WHERE x.name = \($0)))" }
        add(filter.host?.description) { name in
            let anyPort = filter.host?.port == nil ? " OR starts_with(x.name, \(name) || ':')" : ""
            return "l.host = ANY (ARRAY(SELECT x.id FROM fleet_host x WHERE x.name = \(name)\(anyPort)))"
        }
        add(filter.place?.description) { "l.place = \($0)" }
        add(filter.batch?.description) { "t.batch = \($0)::bigint" }
        add(filter.label) { "t.label = \($0)" }
        add(filter.clientKey) { "t.client_key = \($0)" }
        add(filter.node) {
            """
            (EXISTS (SELECT 1 FROM fleet_lease x JOIN fleet_node y ON y.id = x.node WHERE x.task = t.id AND y.name = \($0))
                OR EXISTS (SELECT 1 FROM fleet_end x WHERE x.task = t.id AND x.node = \($0)))
            """
        }
    }

    /// Adds a condition unless the value is nil. `sql` gets the value's placeholder.
    mutating func add(_ value: String?, _ sql: (String) -> String) {
        guard let value else { return }
        parts.append(sql(number(value)))
    }

    /// Adds a parameter and returns its placeholder.
    mutating func number(_ value: String?) -> String {
        parameters.append(value)
        return "$\(parameters.count)"
    }

    /// Joins and `WHERE`.
    var sql: String {
        joins.joined(separator: " ") + (parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND "))
    }

    /// Adds a condition on the states, written such that an index of the table of that state can serve.
    private mutating func add(_ states: Set<FleetTaskState>, _ isStateJoined: Bool) {
        var found: [String] = []
        func table(_ name: String, _ alias: String, on condition: String? = nil) {
            guard !isStateJoined || alias == "q" else { return }
            joins.append("LEFT JOIN \(name) \(alias) ON \(condition ?? "\(alias).task = t.id")")
        }
        let ends = states.filter(\.isEnd).map { "'\($0.rawValue)'" }.sorted()
        if !ends.isEmpty {
            table("fleet_end", "e")
            found.append("e.state IN (\(ends.joined(separator: ", ")))")
        }
        for (state, name, alias) in Self.tables where states.contains(state) {
            table(name, alias)
            found.append("\(alias).task IS NOT NULL")
        }
        if states.contains(.queued) {
            table("fleet_queue", "q", on: "q.lane = t.lane AND q.rank = t.rank AND q.task = t.id")
            found.append("q.task IS NOT NULL")
        }
        parts.append(found.isEmpty ? "false" : "(\(found.joined(separator: " OR ")))")
    }

    private static let tables: [(FleetTaskState, String, String)] = [
        (.leased, "fleet_lease", "s"), (.paused, "fleet_paused", "p"), (.delayed, "fleet_delayed", "d"),
    ]
}
