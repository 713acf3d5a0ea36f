import StrictJSON
import Testing
import XferTestSupport

@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetTransferTests {
    @Test func aDownloadAddedToAFleetIsPublishedByItsNode() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 300_000)
        server.serve("/file", version)
        try await withFleet(1) { fleet in
            let id = try await fleet.first.add(server.url("/file"), ["output": "far.bin", "label": "x"])
            let task = try await fleet.first.wait(id, for: "completed")
            let path = try #require(task["final_path"]?.stringValue)
            #expect(path == "\(fleet.first.daemon.downloads)/far.bin")
            #expect(try FileTree.read(path) == version.bytes)
            #expect(task["label"]?.stringValue == "x" && task["url"]?.stringValue == server.url("/file"))
            #expect(try await fleet.faults(of: [id: "far.bin"]) == [])
            let events = try await fleet.first.call("events.since", ["seq": 0])["events"]?.arrayValue ?? []
            let own = events.filter { $0["task_id"] == .integer(id) }
            #expect(own.map { $0["type"]?.stringValue } == ["task.added", "task.started", "task.completed"])
            #expect(own.first?["url"]?.stringValue == server.url("/file") && own.first?["label"]?.stringValue == "x")
            #expect(own.last?["node"]?.stringValue == "a" && own.last?["path"]?.stringValue == path)
            let joined = try await fleet.first.ctl("--fleet", "events", "--no-follow", "--since", "0")
            #expect(joined.isSuccess && joined.output.contains("fleet.node_joined"), "\(joined)")
            // Nothing is left of it in the node's daemon.
            try await eventually("the node forgets the task") {
                try await fleet.first.daemon.call("task.list")["tasks"]?.arrayValue == []
            }
            let ctl = try await fleet.first.ctl("--fleet", "list")
            #expect(ctl.isSuccess && ctl.output.contains("completed"), "\(ctl)")
            let waited = try await fleet.first.ctl("--fleet", "add", "--wait", "-o", "by-ctl", server.url("/file"))
            #expect(waited.isSuccess, "\(waited)")
            #expect(try FileTree.read("\(fleet.first.daemon.downloads)/by-ctl") == version.bytes)
        }
    }

    @Test func aResponseOfADataTaskIsKeptInTheFleet() async throws {
        let server = try await FaultServer()
        server.on("/data") { _ in Reply(200, text: "hello") }
        try await withFleet(1) { fleet in
            let id = try await fleet.first.add(server.url("/data"), ["kind": "data"])
            try await fleet.first.wait(id, for: "completed")
            let result = try await fleet.first.call("task.result", ["id": .integer(id)])
            #expect(result["data"]?.stringValue == "hello" && result["eof"]?.boolValue == true)
        }
    }

    @Test func aFailureHasItsReasonAndCanBeTriedAgain() async throws {
        let server = try await FaultServer()
        server.on("/gone") { _ in Reply(404) }
        try await withFleet(1) { fleet in
            let id = try await fleet.first.add(server.url("/gone"), ["output": "back"])
            let failed = try await fleet.first.wait(id, for: "failed")
            #expect(failed["error"]?["reason"]?.stringValue == "http_status")
            #expect(failed["error"]?["http_status"]?.integerValue == 404)
            server.serve("/gone", .tagged(1, length: 10))
            let answer = try await fleet.first.call("task.retry", ["ids": [.integer(id)]])
            #expect(answer["changed"]?.arrayValue == [.integer(id)], "\(answer.text)")
            try await eventually("it completes") { try await fleet.first.task(id)["state"]?.stringValue == "completed" }
        }
    }

    @Test func threeNodesPublishEachTaskOnce() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "some bytes") }
        try await withFleet(3, fleet: ["a": ["slots": "2"], "b": ["slots": "2"], "c": ["slots": "2"]]) { fleet in
            let tasks = (0..<60).map { number -> JSONValue in
                ["url": .string(server.url("/f\(number)")), "output": .string("f\(number)")]
            }
            let added = try await fleet.first.call("task.add", ["tasks": .array(tasks)])
            let ids = added["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
            #expect(ids.count == 60)
            let waited = try await fleet.nodes[1].call(
                "task.wait", ["ids": .array(ids.map(JSONValue.integer)), "timeout": 60])
            #expect(waited["timed_out"]?.boolValue == false)
            let names = Dictionary(uniqueKeysWithValues: zip(ids, (0..<60).map { "f\($0)" }))
            #expect(try await fleet.faults(of: names) == [])
            #expect(fleet.nodes.count { !$0.files.isEmpty } > 1, "one node did everything")
        }
    }

    @Test func aTaskOfAPlaceIsCarriedOutThereAndWaitsWithItsReasonWithoutANode() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(2, fleet: ["b": ["labels": "[ssd]"]]) { fleet in
            func add(_ place: String, _ name: String) async throws -> Int64 {
                let task: JSONValue = ["url": .string(server.url("/\(name)")), "output": .string(name)]
                let added = try await fleet.first.call("fleet.add", ["place": .string(place), "tasks": [task]])
                return try #require(added["ids"]?.arrayValue?.first?.integerValue)
            }
            let ids = [try await add("node:b", "pinned"), try await add("label:ssd", "labelled")]
            for id in ids { try await fleet.first.wait(id, for: "completed") }
            #expect(fleet.nodes[1].files.sorted() == ["labelled", "pinned"])
            let homeless = try await add("label:tape", "homeless")
            let waiting = try await fleet.first.task(homeless)
            #expect(waiting["state"]?.stringValue == "queued")
            #expect(waiting["wait"]?["reason"]?.stringValue == "no_node")
            let moved = try await fleet.first.ctl("fleet", "move", "\(homeless)", "--to", "node:a")
            #expect(moved.isSuccess, "\(moved)")
            try await fleet.first.wait(homeless, for: "completed")
            #expect(fleet.first.files == ["homeless"])
        }
    }

    @Test func whatAFleetDoesNotSupportIsRefusedByTheFieldsName() async throws {
        try await withFleet(1) { fleet in
            let refused: [(JSONObject, String)] = [
                (["credential": ["scheme": "basic", "user": "u", "password": "p"]], "credential"),
                (["headers": ["Authorization": "Bearer x"]], "headers.Authorization"), (["cookies": false], "cookies"),
                (["slot": "s"], "slot"), (["after": [1]], "after"), (["after_batch": 1], "after_batch"),
                (["finalize": "manual"], "finalize"), (["on_complete": "h"], "on_complete"),
                (["lease": "l"], "lease"),
            ]
            for (fields, field) in refused {
                let error = await #expect(throws: RPCRefusal.self) {
                    try await fleet.first.add("http://127.0.0.1:1/", fields)
                }
                #expect(
                    error?.path == field && error?.reason == "not_in_fleet", "\(field): \(error?.description ?? "")")
            }
            let user = await #expect(throws: RPCRefusal.self) {
                _ = try await fleet.first.add("http://u:p@127.0.0.1:1/")
            }
            #expect(user?.path == "url" && user?.message.contains("u:p") == false)
            let slot = await #expect(throws: RPCRefusal.self) {
                _ = try await fleet.first.call("slot.get", ["slot": "s"])
            }
            #expect(slot?.reason == "not_in_fleet")
            let counts = try await fleet.first.call("queue.stats")["counts"]
            #expect(counts?["queued"]?.integerValue == 0)
        }
    }

    /// Content of this length, to be posted.
    private static func post(_ url: String, bytes: Int) -> JSONValue {
        [
            "url": .string(url), "kind": "data", "method": "POST",
            "body": ["raw": .string(String(repeating: "x", count: bytes))],
        ]
    }

    /// Together they are longer than a message to the node's xferd.
    @Test func longTasksAreHandedOverInSeveralMessages() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            var ids: [Int64] = []
            for number in 0..<5 {
                let added = try await fleet.first.call(
                    "task.add", ["tasks": [Self.post(server.url("/\(number)"), bytes: 1_500_000)]])
                ids.append(try #require(added["ids"]?.arrayValue?.first?.integerValue))
            }
            for id in ids { try await fleet.first.wait(id, for: "completed") }
            let refused = await #expect(throws: RPCRefusal.self) {
                _ = try await fleet.first.call(
                    "task.add", ["tasks": [Self.post(server.url("/long"), bytes: 3 << 20)]])
            }
            #expect(refused?.reason == "limit_exceeded" && refused?.message.contains("tasks[0]") == true)
        }
    }

    @Test func aTaskThatDoesNotFitIntoAMessageToItsDaemonStopsNoOther() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1, settings: ["rpc": ["max_line": "65536"]], starting: 0) { fleet in
            let node = fleet.first
            // The limit of the node's daemon alone.
            try await node.daemon.start()
            let file = node.daemon.configurationFile
            try FileTree.write(
                try FileTree.text(file).replacing("max_line: 65536", with: "max_line: 4194304"), to: file)
            try await node.startAgent()
            func add(_ place: String, bytes: Int) async throws -> Int64 {
                let task = Self.post(server.url("/\(place)/\(bytes)"), bytes: bytes)
                let added = try await node.call("fleet.add", ["place": .string(place), "tasks": [task]])
                return try #require(added["ids"]?.arrayValue?.first?.integerValue)
            }
            let pinned = try await add("node:a", bytes: 100_000)
            let (free, short) = (try await add("any", bytes: 100_000), try await add("any", bytes: 100))
            try await node.wait(short, for: "completed")
            let failed = try await node.wait(pinned, for: "failed")
            #expect(failed["error"]?["message"]?.stringValue?.contains("rpc.max_line") == true, "\(failed.text)")
            try await eventually("the node declines the other") {
                try await node.task(free)["wait"]?["detail"]?.stringValue?.contains("rpc.max_line") == true
            }
        }
    }

    @Test func theEventsOfAnAddComeAfterItsSequenceNumber() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(1) { fleet in
            func task(_ name: String) -> JSONValue {
                ["url": .string(server.url("/\(name)")), "output": .string(name)]
            }
            let one = try await fleet.first.call("task.add", task("one"))
            let many = try await fleet.first.call("task.add", ["tasks": [task("a"), task("b")]])
            let batch = try await fleet.first.call("batch.add", ["tasks": [task("c"), task("d")]])
            for (answer, count) in [(one, 1), (many, 2), (batch, 2)] {
                let seq = try #require(answer["seq"], "\(answer.text)")
                let ids = answer["ids"]?.arrayValue ?? [answer["task"]?["id"]].compactMap { $0 }
                let page = try await fleet.first.call("events.since", ["seq": seq, "types": ["task.added"]])
                let added = (page["events"]?.arrayValue ?? []).compactMap { $0["task_id"] }
                #expect(ids.count == count && Set(ids).isSubset(of: Set(added)), "\(answer.text) \(page.text)")
            }
        }
    }

    @Test func anAddWithTheSameKeyIsOneTask() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "x") }
        try await withFleet(2) { fleet in
            let first = try await fleet.first.add(server.url("/k"), ["client_key": "k", "output": "k"])
            let second = try await fleet.nodes[1].add(server.url("/k"), ["client_key": "k", "output": "k"])
            #expect(first == second)
            let other = await #expect(throws: RPCRefusal.self) {
                try await fleet.nodes[1].add(server.url("/other"), ["client_key": "k", "output": "k"])
            }
            #expect(other?.reason == "key_reused" && other?.path == "client_key")
            try await fleet.first.wait(first, for: "completed")
            #expect(try await fleet.faults(of: [first: "k"]) == [])
        }
    }
}
