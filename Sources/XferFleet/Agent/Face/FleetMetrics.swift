import XferCore
import XferDaemon
import XferModel
import XferProtocol
import XferSystem

/// `GET /metrics` of the agent, in Prometheus' text format 0.0.4.
struct FleetMetrics: Sendable {
    let face: FleetFace

    /// The number of lanes that are shown: those with the most queued tasks.
    private static let lanes = 50

    private struct Family {
        let name: String
        let type: String
        let help: String
        var lines: [(labels: [(String, String)], value: Double)] = []

        var text: String {
            guard !lines.isEmpty else { return "" }
            return lines.reduce("# HELP \(name) \(help)\n# TYPE \(name) \(type)\n") {
                $0 + PrometheusText.line(name, PrometheusText.labels($1.labels), $1.value)
            }
        }
    }

    func text() async -> String {
        let nodeStatus = face.nodeStatus()
        var families = own(nodeStatus)
        do {
            families += fleet(
                try await face.database.tasks.queueFigures(), try await face.database.tasks.counts(FleetTaskFilter()))
            families += nodes(try await face.database.nodes.list(), nodeStatus.observer)
            families += lanes(try await face.database.tasks.lanes(limit: Self.lanes))
        } catch {
            // The gauge of the database's reachability says why they are missing.
        }
        return families.map(\.text).joined()
    }

    private func own(_ nodeStatus: NodeStatus) -> [Family] {
        func single(_ name: String, _ type: String, _ help: String, _ value: Double) -> Family {
            Family(name: name, type: type, help: help, lines: [([], value)])
        }
        return [
            single(
                "xfer_fleet_database_up", "gauge", "1 if the fleet's database answered the last call.",
                nodeStatus.databaseProblem == nil ? 1 : 0),
            single(
                "xfer_fleet_daemon_up", "gauge", "1 if the node's xferd answered the last call.",
                nodeStatus.daemonProblem == nil ? 1 : 0),
            single(
                "xfer_fleet_held", "gauge", "Tasks of the fleet that this node has claimed.", Double(nodeStatus.claimed)
            ),
            single(
                "xfer_fleet_claims_total", "counter", "Tasks that this node has claimed since its agent started.",
                Double(nodeStatus.claims)),
            single(
                "xfer_fleet_ends_total", "counter", "Ends that this node has reported since its agent started.",
                Double(nodeStatus.ends)),
            single(
                "xfer_fleet_lost_total", "counter", "Claims of this node that were no longer valid when it reported.",
                Double(nodeStatus.lost)),
        ]
    }

    private func fleet(_ figures: FleetQueueFigures, _ counts: FleetCounts) -> [Family] {
        var states = Family(name: "xfer_fleet_tasks", type: "gauge", help: "Tasks of the fleet by state.")
        states.lines = FleetTaskState.allCases.map { ([("state", $0.rawValue)], Double(counts[$0])) }
        var oldest = Family(
            name: "xfer_fleet_oldest_queued_seconds", type: "gauge",
            help: "Age of the oldest queued task by the database's clock; 0 if none is queued.")
        oldest.lines = [([], figures.oldestQueued ?? 0)]
        var unserved = Family(
            name: "xfer_fleet_unserved", type: "gauge", help: "Queued tasks without an available node for their place.")
        unserved.lines = [([], Double(figures.withoutNode))]
        var events = Family(name: "xfer_fleet_events_total", type: "counter", help: "Number of the newest event.")
        events.lines = [([], Double(figures.newestEvent))]
        return [states, oldest, unserved, events]
    }

    private func nodes(_ rows: [FleetNodeRow], _ observer: BeatObserver) -> [Family] {
        let now = Clocks.monotonic()
        var beats = Family(
            name: "xfer_fleet_node_beats_total", type: "counter", help: "Beats (signs of life) of a node.")
        var leases = Family(name: "xfer_fleet_node_leases", type: "gauge", help: "Tasks that a node has claimed.")
        var live = Family(
            name: "xfer_fleet_node_live", type: "gauge",
            help: "1 if this agent has recently observed a beat of the node.")
        var draining = Family(name: "xfer_fleet_node_draining", type: "gauge", help: "1 if a node claims no new tasks.")
        for row in rows {
            let labels = [("node", row.description.name)]
            beats.lines.append((labels, Double(row.beat)))
            leases.lines.append((labels, Double(row.leases)))
            let record = row.record(observer, face.configuration.rules, at: now)
            live.lines.append((labels, record.state.value == .live ? 1 : 0))
            draining.lines.append((labels, row.isDraining ? 1 : 0))
        }
        return [beats, leases, live, draining]
    }

    private func lanes(_ rows: [FleetLaneRow]) -> [Family] {
        var queued = Family(name: "xfer_fleet_lane_queued", type: "gauge", help: "Queued tasks of a lane.")
        var oldest = Family(
            name: "xfer_fleet_lane_oldest_seconds", type: "gauge", help: "Age of a lane's oldest queued task.")
        for row in rows {
            let labels = [
                ("priority", "\(row.priority)"), ("owner", row.owner), ("group", row.group ?? ""), ("host", row.host),
                ("place", row.place),
            ]
            queued.lines.append((labels, Double(row.queued)))
            if let age = row.oldestQueued { oldest.lines.append((labels, age)) }
        }
        return [queued, oldest]
    }
}
