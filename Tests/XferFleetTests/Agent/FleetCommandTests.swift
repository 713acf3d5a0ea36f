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

    /// The streams of a user have the daemon's limits.
    @Test func theStreamsOfAUserName100000Tasks() async throws {
        try await withFleet(1) { fleet in
            // Without a transcript: messages of ten thousand ids.
            let session = try RPCSession(socket: fleet.first.socket)
            for index in 0..<10 {
                let tasks = (index * 10_000 + 1...index * 10_000 + 10_000).map { JSONValue.integer(Int64($0)) }
                _ = try await session.call("events.subscribe", ["task_ids": .array(tasks)])
            }
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await session.call("events.subscribe", ["task_ids": 1])
            }
            #expect(refusal?.reason == "limit_exceeded")
            _ = try await session.call("events.unsubscribe", ["subscription": 1])
            try await eventually("the places of an ended stream are free") {
                (try? await session.call("events.subscribe", ["task_ids": 1])) != nil
            }
        }
    }

    @Test func aFilterOfIDsSelectsNoOtherTask() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            let open = try await stalled(fleet, server, "/open", until: gate)
            let quick = try await fleet.first.add(server.url("/quick"), ["output": "quick"])
            try await fleet.first.wait(quick, for: "completed")
            // The other task has not ended.
            let answer = try await fleet.first.call("task.wait", ["filter": ["ids": [.integer(quick)]]])
            #expect(answer["timed_out"]?.boolValue == false)
            await #expect(throws: (any Error).self) {
                try await fleet.first.call(
                    "task.cancel", ["filter": ["ids": [.integer(open)], "state": "completed"]])
            }
            gate.open()
            try await fleet.first.wait(open, for: "completed")
        }
    }

    @Test func aDrainedNodeFinishesWhatItHoldsAndTakesNoMore() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            let id = try await stalled(fleet, server, "/d", until: gate)
            let drained = try await fleet.first.ctl("fleet", "drain", "a")
            #expect(drained.isSuccess && drained.output.contains("finishes the 1 it has"), "\(drained)")
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

    /// A rate of the fleet is divided among its live nodes; without one each node has its own again.
    @Test func aRateOfTheFleetIsDividedAmongLiveNodes() async throws {
        try await withFleet(2) { fleet in
            func rates() async throws -> [Int64?] {
                var found: [Int64?] = []
                for node in fleet.nodes {
                    found.append(
                        try await node.daemon.call("queue.stats")["limits"]?["max_recv_rate"]?.integerValue)
                }
                return found
            }
            let set = try await fleet.first.ctl("--fleet", "limit", "--recv", "2M")
            #expect(set.isSuccess && set.output.contains("max receive  1.9 MiB/s"), "\(set)")
            try await eventually("each has a half") { try await rates() == [1_000_000, 1_000_000] }
            _ = try await fleet.first.call("fleet.drain", ["node": "b"])
            try await eventually("the other one has all") { try await rates()[0] == 2_000_000 }
            _ = try await fleet.first.call("fleet.undrain", ["node": "b"])
            // An agent that was away takes away what an earlier one has given.
            await fleet.nodes[1].killAgent()
            _ = try await fleet.first.call("queue.set_limits", ["max_recv_rate": nil])
            try await eventually("it has none") { try await rates()[0] == 0 }
            try await fleet.nodes[1].startAgent()
            try await eventually("nor has the other") { try await rates() == [0, 0] }
        }
    }

    /// A node takes a task only if the policy and the profile that the task names are there as they were where it was
    /// added.
    @Test func aNodeWhoseProfileDiffersDeclinesTheTask() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(2, fleet: ["a": ["slots": "1"], "b": ["labels": "[b]"]]) { fleet in
            let profile: JSONValue = ["profile": ["name": "api", "languages": ["de"]]]
            for node in fleet.nodes { _ = try await node.daemon.call("profile.set", profile) }
            func add(_ name: String) async throws -> Int64 {
                let task: JSONValue = [
                    "url": .string(server.url("/\(name)")), "output": .string(name), "profile": "api",
                ]
                let added = try await fleet.first.call("fleet.add", ["place": "label:b", "tasks": [task]])
                return try #require(added["ids"]?.arrayValue?.first?.integerValue)
            }
            try await fleet.first.wait(try await add("same"), for: "completed")

            _ = try await fleet.nodes[1].daemon.call(
                "profile.set", ["profile": ["name": "api", "languages": ["en"]]])
            let id = try await add("other")
            try await eventually("it is declined with the difference") {
                try await fleet.database.sql("SELECT reason FROM fleet_declined WHERE task = \(id)", in: "fleet")
                    .contains("its profile api differs in languages")
            }
            #expect(try await fleet.first.task(id)["state"]?.stringValue == "queued")
            #expect(server.requests(to: "/other").isEmpty)

            let missing = await #expect(throws: RPCRefusal.self) {
                _ = try await fleet.first.add(server.url("/m"), ["policy": "none"])
            }
            #expect(missing?.path == "policy" && missing?.message.contains("node a has no policy none") == true)

            // The node asks itself again after a while.
            _ = try await fleet.nodes[1].daemon.call("profile.set", profile)
            try await fleet.first.wait(id, for: "completed")
        }
    }

    @Test func aTaskThatAllNodesDeclineSaysWhatEachSays() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(2) { fleet in
            let id = try await fleet.first.add(server.url("/x"), ["output": "/proc/x"])
            try await eventually("it says so") {
                let wait = try await fleet.first.task(id)["wait"]
                let detail = wait?["detail"]?.stringValue ?? ""
                return wait?["reason"]?.stringValue == "no_node" && detail.contains("node a: ")
                    && detail.contains("node b: ")
            }
            let listed = try await fleet.first.ctl("--fleet", "list")
            #expect(listed.isSuccess && listed.output.contains("every node declines it"), "\(listed)")
            #expect(server.requests(to: "/x").isEmpty)

            let added = try await fleet.first.ctl("--fleet", "add", "--wait", "-o", "y", server.url("/y"))
            #expect(added.isSuccess, "\(added)")
            #expect(fleet.nodes.flatMap(\.files) == ["y"])
        }
    }
}
