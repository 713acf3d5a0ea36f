import Glibc
import StrictJSON
import Testing
import XferTestSupport

@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetOutageTests {
    @Test func anAgentWithoutADatabaseWaitsAndSaysSo() async throws {
        let database = try await makeFleetDatabase()
        let node = try FleetNodeFixture("a", database: database.fleet)
        #expect(try await node.run("migrate").isSuccess)
        await database.stop()
        try await node.daemon.start()
        try node.launchAgent()
        try await eventually("it says so") { node.log.contains("waiting for the fleet's database") }
        #expect(node.process?.isRunning == true)
        try await database.start()
        try await eventually("it joins") { node.log.contains("the node is in the fleet") }
        #expect(await node.stopAgent() == .code(0))
        await node.stop()
        await database.stop()
    }

    @Test func anAgentBeforeAMigrationEndsWithAnAdvice() async throws {
        let database = try await makeFleetDatabase()
        let node = try FleetNodeFixture("a", database: database.fleet)
        try await node.daemon.start()
        let result = try await node.run("run")
        #expect(result.exit == .code(78) && result.errors.contains("xfer-fleet migrate"), "\(result)")
        await node.stop()
        await database.stop()
    }

    @Test func theOlderOfTwoAgentsWithOneStateDirectoryStops() async throws {
        try await withFleet(1) { fleet in
            let clone = try FleetNodeFixture(
                "a", database: fleet.database.fleet, fleet: ["daemon": fleet.first.daemon.socket])
            try await clone.startAgent()
            try await eventually("the older one stops") { fleet.first.process?.isRunning == false }
            #expect(await fleet.first.stopAgent() == .code(78))
            #expect(fleet.first.log.contains("registered again by another agent"))
            #expect(clone.process?.isRunning == true)
            await clone.stopAgent()
        }
    }

    @Test func anotherMachineWithTheNameOfALiveNodeIsRefused() async throws {
        try await withFleet(1) { fleet in
            let other = try FleetNodeFixture("a", database: fleet.database.fleet)
            try await other.daemon.start()
            let result = try await other.run("run")
            #expect(result.exit == .code(78) && result.errors.contains("choose another name"), "\(result)")
            #expect(fleet.first.process?.isRunning == true)
            await other.stop()
        }
    }

    /// The agent hangs while its daemon lives: the daemon stops by itself, another node takes the task over.
    @Test func aTaskOfAHangingAgentIsStoppedByItsDaemonAndTakenOver() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let version = SourceVersion.tagged(1, length: 200_000)
        server.serve("/h", version, faults: [[.stall(at: 50_000, until: gate)]])
        try await withFleet(3, fleet: ["b": ["slots": "1"], "c": ["slots": "1"]]) { fleet in
            let task: JSONValue = ["url": .string(server.url("/h")), "output": "h"]
            // Only one of the two nodes with the label can be the first.
            let added = try await fleet.first.call("fleet.add", ["place": "any", "tasks": [task]])
            let id = try #require(added["ids"]?.arrayValue?.first?.integerValue)
            try await eventually("the request stalls") { !server.requests(to: "/h").isEmpty }
            let holder = try #require(
                try await eventually("a node holds it") {
                    let name = try await fleet.database.sql(
                        "SELECT n.name FROM fleet_lease l JOIN fleet_node n ON n.id = l.node WHERE l.task = \(id)",
                        in: "fleet")
                    return fleet.nodes.first { "\($0.name)\n" == name }
                } as FleetNodeFixture?)
            let other = try #require(fleet.nodes.first { $0.name != holder.name })
            holder.process?.signal(SIGSTOP)
            try await eventually("its daemon stops the task by itself") {
                let tasks = try await holder.daemon.call("task.list")["tasks"]?.arrayValue ?? []
                return tasks.contains { $0["wait"]?["reason"]?.stringValue == "lease" }
            }
            try await other.wait(id, for: "completed")
            gate.open()
            holder.process?.signal(SIGCONT)
            try await eventually("the zombie drops it") {
                try await holder.daemon.call("task.list")["tasks"]?.arrayValue == []
            }
            #expect(holder.files.isEmpty)
            #expect(
                try await FleetFixture(
                    database: fleet.database, nodes: [other] + fleet.nodes.filter { $0.name != other.name }
                ).faults(of: [id: "h"]) == [])
        }
    }

    /// All packets between one node and the database are dropped: for ten seconds, in `make soak` also for a minute and
    /// for ten.
    @Test(arguments: FleetFixture.isSoak ? [10, 60, 600] : [10])
    func aNodeThatIsCutOffLosesItsTasksAndJoinsAgain(seconds: Int) async throws {
        let server = try await FaultServer()
        let database = try await makeFleetDatabase()
        let relay = try PostgresRelay(to: database)
        let nodes = [
            try FleetNodeFixture("a", database: relay.connection("fleet"), fleet: ["labels": "[ab]"]),
            try FleetNodeFixture("b", database: database.fleet, fleet: ["labels": "[ab]"]),
            try FleetNodeFixture("c", database: database.fleet),
        ]
        #expect(try await nodes[1].run("migrate").isSuccess)
        try await nodes[0].start()
        try await loseAndRejoin(
            FleetFixture(database: database, nodes: nodes), server, for: seconds, cut: { relay.set(.stalls) },
            mend: { relay.set(.passes) })
        for node in nodes { await node.stop() }
        await database.stop()
    }

    /// One node's machine has no network at all, neither to the database nor to servers.
    @Test(
        .enabled(if: NetworkNamespace.isPossible, Comment(rawValue: NetworkNamespace.requirement)),
        arguments: FleetNetwork.Cut.allCases)
    func aNodeWithoutANetworkLosesItsTasksAndJoinsAgain(cut: FleetNetwork.Cut) async throws {
        let network = try await FleetNetwork()
        let server = try await FaultServer(address: network.address)
        let labels = ["labels": "[ab]"]
        try await withFleet(3, fleet: ["a": labels, "b": labels], starting: 1, on: network) { fleet in
            try await loseAndRejoin(
                fleet, server, for: 3, cut: { try await network.cut(1, cut) }, mend: { try await network.mend(1) })
        }
    }

    /// Of three nodes the first runs, which is cut off with a transfer under way; the second finishes it.
    private func loseAndRejoin(
        _ fleet: FleetFixture, _ server: FaultServer, for seconds: Int, cut: () async throws -> Void,
        mend: () async throws -> Void
    ) async throws {
        let nodes = fleet.nodes
        let gate = Gate()
        server.serve("/o", .tagged(1, length: 200_000), faults: [[.stall(at: 50_000, until: gate)]])
        let task: JSONValue = ["url": .string(server.url("/o")), "output": "o"]
        let added = try await nodes[0].call("fleet.add", ["place": "label:ab", "tasks": [task]])
        let id = try #require(added["ids"]?.arrayValue?.first?.integerValue)
        try await eventually("the request stalls") { !server.requests(to: "/o").isEmpty }
        try await nodes[1].start()
        try await nodes[2].start()
        try await cut()
        try await eventually("its daemon stops the task by itself") {
            let tasks = try await nodes[0].daemon.call("task.list")["tasks"]?.arrayValue ?? []
            return tasks.contains { $0["wait"]?["reason"]?.stringValue == "lease" }
        }
        try await nodes[1].wait(id, for: "completed")
        // Sleeps: an absence longer than any timeout, at the usual speed of these tests, is the subject.
        try await Task.sleep(for: .seconds(seconds))
        gate.open()
        try await mend()
        try await eventually("the node joins again") {
            let all = try await nodes[1].call("fleet.nodes")["nodes"]?.arrayValue ?? []
            return all.allSatisfy { $0["state"]?.stringValue == "live" }
        }
        try await eventually("it drops the task") {
            try await nodes[0].daemon.call("task.list")["tasks"]?.arrayValue == []
        }
        let seen = FleetFixture(database: fleet.database, nodes: [nodes[1], nodes[0], nodes[2]])
        #expect(try await seen.faults(of: [id: "o"]) == [])
    }

    @Test func aLostNodeIsForgottenAfterItsTasksWereShown() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(3) { fleet in
            let lost = fleet.nodes[2]
            await lost.killAgent()
            let task: JSONValue = ["url": .string(server.url("/f")), "output": "f"]
            let added = try await fleet.first.call("fleet.add", ["place": "node:c", "tasks": [task]])
            let id = try #require(added["ids"]?.arrayValue?.first?.integerValue)
            let early = try await fleet.first.ctl("fleet", "forget", "c", "--yes")
            #expect(!early.isSuccess, "a live node was forgotten: \(early)")
            try await eventually("the node is down") {
                let nodes = try await fleet.first.call("fleet.nodes")["nodes"]?.arrayValue ?? []
                return nodes.contains { $0["name"]?.stringValue == "c" && $0["state"]?.stringValue == "down" }
            }
            try await eventually("the task says why it waits") {
                try await fleet.first.task(id)["wait"]?["reason"]?.stringValue == "node_down"
            }
            let shown = try await fleet.first.ctl("fleet", "forget", "c")
            #expect(shown.isSuccess && shown.output.contains("#\(id)") && shown.output.contains("--yes"), "\(shown)")
            let forgotten = try await fleet.first.ctl("fleet", "forget", "c", "--yes")
            #expect(forgotten.isSuccess, "\(forgotten)")
            try await fleet.first.wait(id, for: "failed")
            #expect(try await fleet.first.call("fleet.nodes")["nodes"]?.arrayValue?.count == 2)
        }
    }
}
