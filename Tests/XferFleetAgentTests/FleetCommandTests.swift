import StrictJSON
import Testing
import XferTestSupport

@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetCommandTests {
    /// A download that stalls in its middle, under way on a node.
    private func stalled(
        _ fleet: FleetFixture, _ server: FaultServer, _ path: String, until gate: Gate
    ) async throws -> Int64 {
        server.serve(path, .tagged(1, length: 200_000), faults: [[.stall(at: 50_000, until: gate)]])
        let id = try await fleet.first.add(server.url(path), ["output": .string(String(path.dropFirst()))])
        try await eventually("the request stalls") { !server.requests(to: path).isEmpty }
        return id
    }

    @Test func aCancelIsHeardByTheNodeThatHasTheTask() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        try await withFleet(2) { fleet in
            let id = try await stalled(fleet, server, "/c", until: gate)
            _ = try await fleet.first.call("task.cancel", ["ids": [.integer(id)]])
            let task = try await fleet.first.wait(id, for: "cancelled")
            #expect(task["final_path"] == nil)
            #expect(fleet.nodes.flatMap(\.files) == [])
            gate.open()
        }
    }

    @Test func aPausedTaskIsGivenBackAndGoesOnWhenItIsResumed() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        try await withFleet(1) { fleet in
            let id = try await stalled(fleet, server, "/p", until: gate)
            _ = try await fleet.first.call("task.pause", ["ids": [.integer(id)]])
            try await fleet.first.wait(id, for: "paused")
            gate.open()
            _ = try await fleet.first.call("task.resume", ["ids": [.integer(id)]])
            try await fleet.first.wait(id, for: "completed")
            #expect(try await fleet.faults(of: [id: "p"]) == [])
        }
    }

    @Test func aDrainedNodeFinishesWhatItHoldsAndTakesNoMore() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            let id = try await stalled(fleet, server, "/d", until: gate)
            let drained = try await fleet.first.ctl("fleet", "drain", "a")
            #expect(drained.isSuccess && drained.output.contains("finishes 1"), "\(drained)")
            let later = try await fleet.first.add(server.url("/later"), ["output": "later"])
            gate.open()
            try await fleet.first.wait(id, for: "completed")
            try await eventually("the node holds nothing") {
                let node = try await fleet.first.call("fleet.nodes")["nodes"]?.arrayValue?.first
                return node?["leases"]?.integerValue == 0 && node?["draining"]?.boolValue == true
            }
            #expect(try await fleet.first.task(later)["state"]?.stringValue == "queued")
            _ = try await fleet.first.call("fleet.undrain", ["node": "a"])
            try await fleet.first.wait(later, for: "completed")
        }
    }

    @Test func aLimitOfAHostHoldsOverAllNodes() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in
            await gate.wait()
            return Reply(200, text: "x")
        }
        try await withFleet(2) { fleet in
            let limited = try await fleet.first.ctl("fleet", "limit", "127.0.0.1:\(server.port)", "2")
            #expect(limited.isSuccess, "\(limited)")
            for number in 0..<6 {
                try await fleet.first.add(server.url("/l\(number)"), ["output": .string("l\(number)")])
            }
            try await eventually("two are held") {
                try await fleet.first.call("queue.stats")["counts"]?["running"]?.integerValue == 2
            }
            try await eventually("both requests have come") { server.requests.count == 2 }
            #expect(
                try await fleet.database.sql("SELECT leased FROM fleet_host WHERE max_active = 2", in: "fleet") == "2\n"
            )
            gate.open()
            try await eventually("all complete") {
                try await fleet.first.call("queue.stats")["counts"]?["completed"]?.integerValue == 6
            }
            #expect(try await fleet.faults(of: [:]).filter { $0.contains("gap") } == [])
        }
    }

    @Test func aSubscriptionToldOfEveryEndInOrder() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(2) { fleet in
            let session = try RPCSession(socket: fleet.nodes[1].socket, transcript: fleet.first.daemon.transcript)
            _ = try await session.call("events.subscribe", ["since": 0, "types": ["task.completed"]])
            var ids: Set<Int64> = []
            for number in 0..<20 {
                ids.insert(try await fleet.first.add(server.url("/s\(number)"), ["output": .string("s\(number)")]))
            }
            try await eventually("all ends are told") { session.events.count >= 20 }
            let tasks = Set(session.events.compactMap { $0["task_id"]?.integerValue })
            let numbers = session.events.compactMap { $0["seq"]?.integerValue }
            #expect(tasks == ids)
            #expect(numbers == numbers.sorted())
            #expect(numbers.count == 20)
        }
    }

    @Test func aBatchIsCountedInTheFleet() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in request.path == "/bad" ? Reply(404) : Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            let added = try await fleet.first.call(
                "batch.add",
                [
                    "tasks": [.string(server.url("/b1")), .string(server.url("/bad")), "mailto:x"], "client_key": "b",
                ])
            let batch = try #require(added["batch"]?["id"]?.integerValue)
            #expect(added["errors"]?.arrayValue?.first?["index"]?.integerValue == 2)
            try await eventually("it ends") {
                try await fleet.first.call("batch.get", ["id": .integer(batch)])["batch"]?["finished"]?.integerValue
                    == 2
            }
            let record = try await fleet.first.call("batch.get", ["id": .integer(batch)])["batch"]
            #expect(record?["counts"]?["completed"]?.integerValue == 1 && record?["skipped"]?.integerValue == 1)
        }
    }
}
