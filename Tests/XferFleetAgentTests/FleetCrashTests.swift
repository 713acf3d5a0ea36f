import StrictJSON
import Testing
import XferTestSupport

@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetCrashTests {
    /// Which part of the fleet is killed.
    private enum Victim: CaseIterable {
        case agent, daemon, database
    }

    /// Parts are killed at random moments while tasks run; each comes back at once.
    @Test func noTaskIsLostOrPublishedTwiceWhenAgentsDaemonsAndTheDatabaseAreKilled() async throws {
        var random = SplitMix64(seed: 20)
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "some bytes of a file") }
        try await withFleet(3) { fleet in
            var tasks: [Int64: String] = [:]
            for round in 0..<(FleetFixture.isSoak ? 1000 : 30) {
                let names = (0..<4).map { "r\(round)-\($0)" }
                let specifications = names.map { name -> JSONValue in
                    [
                        "url": .string(server.url("/\(name)")), "output": .string(name), "client_key": .string(name),
                    ]
                }
                // An answer may be lost with the agent or the database: the key makes it safe to call again.
                let ids = try await eventually("the tasks are added") {
                    let node = fleet.nodes[Int.random(in: 0..<3, using: &random)]
                    let added = try? await node.call("task.add", ["tasks": .array(specifications)])
                    return added?["ids"]?.arrayValue?.compactMap(\.integerValue)
                }
                for (id, name) in zip(ids, names) { tasks[id] = name }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
                let node = fleet.nodes[Int.random(in: 0..<3, using: &random)]
                switch Victim.allCases[Int.random(in: 0..<3, using: &random)] {
                case .agent:
                    await node.killAgent()
                    try await node.startAgent()
                case .daemon:
                    await node.daemon.kill9()
                    try await node.daemon.start()
                case .database:
                    await fleet.database.kill9()
                    try await fleet.database.start()
                }
            }
            try await eventually("all tasks end", within: Patience.long) {
                guard let counts = try? await fleet.first.call("queue.stats")["counts"] else { return false }
                return counts["completed"]?.integerValue == Int64(tasks.count)
            }
            // A node that was away for too long is taken over; then its file may be on two machines.
            let takeovers = try await fleet.first.events().contains { $0["type"]?.stringValue == "fleet.node_down" }
            let faults = try await fleet.faults(of: tasks)
            #expect(faults.filter { !takeovers || !$0.contains(" is on ") } == [])
        }
    }
}
