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

    static let isSoak = Campaign.isSoak
    static var isPossible: Bool { PostgresCluster.programs != nil }

    /// What is wrong over all nodes at the end: each task has one end, and its file is there once.
    ///
    /// - Parameter mayRepeat: whether the file of a task that was taken over from a node may be on several.
    func faults(of tasks: [Int64: String], mayRepeat: Bool = false) async throws -> [String] {
        var faults: [String] = []
        let events = try await first.events()
        var ends: [Int64: Int] = [:]
        var down: Set<String> = []
        var takenOver: Set<Int64> = []
        for event in events {
            let (id, node) = (event["task_id"]?.integerValue, event["node"]?.stringValue ?? "")
            if let id, event["terminal"]?.boolValue == true { ends[id, default: 0] += 1 }
            switch event["type"]?.stringValue {
            case "fleet.node_down": down.insert(node)
            case "fleet.node_joined": down.remove(node)
            case "fleet.task_released": if let id, down.contains(node) { takenOver.insert(id) }
            default: break
            }
        }
        var places: [String: [String]] = [:]
        for node in nodes { for file in node.files { places[file, default: []].append(node.name) } }
        let numbers = events.compactMap { $0["seq"]?.integerValue }
        if numbers != (numbers.first.map { Array($0..<($0 + Int64(numbers.count))) } ?? []) {
            faults.append("a gap in seq")
        }
        for (id, name) in tasks.sorted(by: { $0.key < $1.key }) {
            if ends[id] != 1 { faults.append("task \(id) has \(ends[id] ?? 0) ends") }
            let state = try await first.task(id)["state"]?.stringValue
            if state != "completed" { faults.append("task \(id) is \(state ?? "?")") }
            let files = places[name] ?? []
            let isRepeated = mayRepeat && files.count > 1 && takenOver.contains(id)
            if files.count != 1, !isRepeated { faults.append("\(name) is on \(files)") }
            if isRepeated { print("task \(id) was published before a takeover and after it: \(name) is on \(files)") }
        }
        let names = Set(tasks.values)
        faults += places.filter { !names.contains($0.key) }.map { "\($0.key) on \($0.value)" }
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
