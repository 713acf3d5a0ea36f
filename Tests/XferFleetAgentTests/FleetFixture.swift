import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A database and the nodes of a fleet.
struct FleetFixture {
    let database: PostgresCluster
    let nodes: [FleetNodeFixture]
    /// That of nodes with namespaces of their own, in their order.
    var network: FleetNetwork?

    var first: FleetNodeFixture { nodes[0] }

    static let isSoak = getenv("XFER_SOAK") != nil
    static var isPossible: Bool { PostgresCluster.programs != nil }

    /// What is wrong over all nodes at the end: each task has one end, and its file is there once.
    func faults(of tasks: [Int64: String]) async throws -> [String] {
        var faults: [String] = []
        let events = try await first.events()
        let numbers = events.compactMap { $0["seq"]?.integerValue }
        if numbers != (numbers.first.map { Array($0..<($0 + Int64(numbers.count))) } ?? []) {
            faults.append("a gap in seq")
        }
        for (id, name) in tasks.sorted(by: { $0.key < $1.key }) {
            let ends = events.filter { $0["task_id"]?.integerValue == id && $0["terminal"]?.boolValue == true }
            if ends.count != 1 { faults.append("task \(id) has \(ends.count) ends") }
            let state = try await first.task(id)["state"]?.stringValue
            if state != "completed" { faults.append("task \(id) is \(state ?? "?")") }
            let files = nodes.flatMap { node in node.files.filter { $0 == name }.map { _ in node.name } }
            if files.count != 1 { faults.append("\(name) is on \(files)") }
        }
        let names = Set(tasks.values)
        for node in nodes { faults += node.files.filter { !names.contains($0) }.map { "\($0) on \(node.name)" } }
        return faults
    }
}

/// A server of its own, which a test may kill, with one empty database.
func makeFleetDatabase(on network: FleetNetwork? = nil) async throws -> PostgresCluster {
    let cluster = try await PostgresCluster(["max_connections": "200"], address: network?.address)
    try await cluster.makeDatabase("fleet")
    return cluster
}

extension PostgresCluster {
    /// That database's address.
    var fleet: String { connection("fleet") }
}

/// Runs `body` with a fleet whose nodes are called a, b, …, and adds their logs to any error.
///
/// - Parameter started: how many of them run at first; nil is all.
func withFleet(
    _ count: Int, fleet: [String: [String: String]] = [:], settings: [String: [String: String]] = [:],
    starting started: Int? = nil, on network: FleetNetwork? = nil, body: (FleetFixture) async throws -> Void
) async throws {
    let database = try await makeFleetDatabase(on: network)
    var nodes: [FleetNodeFixture] = []
    for (index, name) in ["a", "b", "c", "d"].prefix(count).enumerated() {
        let namespace = network == nil ? nil : try await NetworkNamespace()
        if let network, let namespace { try await network.plug(namespace, as: index + 1) }
        nodes.append(
            try FleetNodeFixture(
                name, database: network == nil ? database.fleet : database.networkConnection("fleet"),
                fleet: fleet[name] ?? [:], settings: settings, in: namespace))
    }
    let fixture = FleetFixture(database: database, nodes: nodes, network: network)
    let migrated = try await fixture.first.run("migrate")
    guard migrated.isSuccess else { throw TimedOut("migrate: \(migrated)") }
    do {
        for node in nodes.prefix(started ?? count) { try await node.start() }
        try await body(fixture)
    } catch {
        let logs = nodes.map { "\($0.name):\n\($0.log.suffix(3000))\nxferd:\n\($0.daemon.log.suffix(1500))" }
        throw TimedOut("\(error)\n\(logs.joined(separator: "\n"))\npostgres:\n\(database.log.suffix(1500))")
    }
    for node in nodes { await node.stop() }
    await database.stop()
}
