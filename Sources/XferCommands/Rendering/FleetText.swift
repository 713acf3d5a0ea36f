import XferModel
import XferProtocol

/// The texts about fleets.
enum FleetText {
    static func lines(_ status: FleetStatus.Result) -> [String] {
        let counts = TaskState.allCases.compactMap { state in
            status.counts[state] > 0 ? "\(status.counts[state]) \(state.rawValue)" : nil
        }
        return [
            "node:    \(SafeText.sanitised(status.node)), xfer-fleet \(SafeText.sanitised(status.version))",
            "xferd:   \(status.daemon ? "answers" : SafeText.sanitised(status.daemonProblem ?? "does not answer"))",
            "fleet:   \(SafeText.sanitised(status.fleet)), schema \(status.schema)",
            "nodes:   \(status.live) of \(status.nodes) live",
            "tasks:   \(counts.isEmpty ? "none" : counts.joined(separator: ", "))",
        ]
    }

    static func table(_ nodes: [FleetNodeRecord]) -> Table {
        var table = Table(columns: [
            .init(title: "NODE", isFlexible: true), .init(title: "STATE"), .init(title: "CLAIMED", alignment: .right),
            .init(title: "SLOTS", alignment: .right), .init(title: "PINNED", alignment: .right),
            .init(title: "VERSION"), .init(title: "PLACES", isFlexible: true, cut: .end),
        ])
        table.rows = nodes.map { node in
            [
                Table.Cell(node.name), Table.Cell(node.state.description + (node.draining ? ", draining" : "")),
                "\(node.leases)", "\(node.slots)", "\(node.pinned)", Table.Cell(node.version),
                Table.Cell(node.places.joined(separator: " ")),
            ]
        }
        return table
    }

    static func draining(_ node: FleetNodeRecord) -> String {
        let name = SafeText.sanitised(node.name)
        return node.leases == 0
            ? "\(name) claims no more tasks and has none: it may be stopped"
            : "\(name) claims no more tasks and finishes the \(node.leases) it has"
    }

    static func lines(_ result: FleetForget.Result, node: String) -> [String] {
        let name = SafeText.sanitised(node)
        var lines: [String] = []
        if result.requeuedCount > 0 {
            lines.append("\(result.requeuedCount) for other nodes: \(SelectionText.list(result.requeued))")
        }
        if result.failedCount > 0 {
            lines.append("\(result.failedCount) that end with it: \(SelectionText.list(result.failed))")
        }
        if lines.isEmpty { lines = ["\(name) has no tasks"] }
        if result.parts > 0 {
            lines.append("partial files on shared storage\(result.forgotten ? ", removed" : ""): \(result.parts)")
        }
        for storage in result.storagesLeft {
            lines.append(
                "storage:\(SafeText.sanitised(storage)) cannot be read from here: partial files may be left there")
        }
        return lines + [result.forgotten ? "removed: \(name)" : "nothing was done: --yes removes \(name)"]
    }

    static func place(_ text: String, option: String) throws(CommandFailure) -> FleetPlace {
        guard let place = FleetPlace(text) else {
            throw .usage("\(option): expected \(FleetPlace.expected), found \"\(SafeText.sanitised(text))\"")
        }
        return place
    }
}
