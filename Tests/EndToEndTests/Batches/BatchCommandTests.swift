import StrictJSON
import Testing
import XferTestSupport

/// `xferctl batch` and `xferctl group` against the real daemon.
@Suite struct BatchCommandTests {
    private static func serve(_ paths: [String], on server: FaultServer) {
        for (index, path) in paths.enumerated() { server.serve(path, .tagged(UInt64(index), length: 1000)) }
    }

    /// Two of five fail: 5 finished, 2 skipped, one event.
    @Test func aListIsAddedWaitedForAndCounted() async throws {
        let server = try await FaultServer()
        Self.serve(["/0", "/2", "/4"], on: server)
        try await withDaemon { daemon in
            let list = "# five\n" + (0..<5).map { server.url("/\($0)") + "\n\n" }.joined()
            let added = try await daemon.ctl("batch", "add", "-d", ".", "-i", "-", "--wait", input: list)
            #expect(added.exit == .code(1), "\(added)")
            #expect(added.output.hasPrefix("batch 1: 5 tasks\n"), "\(added)")
            #expect(added.output.contains("5 of 5, 2 failed"), "\(added)")
            let batch = try await daemon.call("batch.get", ["id": 1])["batch"]
            #expect(
                batch?["finished"] == 5 && batch?["failed"] == 2 && batch?["skipped"] == 2
                    && batch?["group"] == "batch-1")
            let events = try await daemon.events(types: "batch.completed")
            #expect(events.count == 1)
            #expect(events.first?["batch"] == 1 && events.first?["finished"] == 5 && events.first?["failed"] == 2)
            let again = try await daemon.ctl("batch", "show", "1", "--wait", "--json")
            #expect(again.exit == .code(1) && again.output.contains(#""skipped":2"#), "\(again)")
            let task = try await daemon.task(1)
            #expect(task["batch"] == 1 && task["priority"] == "low")
        }
    }

    @Test func badLinesAreReportedByTheirNumbersAndStopNothing() async throws {
        let server = try await FaultServer()
        Self.serve(["/a", "/b"], on: server)
        try await withDaemon { daemon in
            let list = "\(server.url("/a"))\n# a comment\nmailto:somebody\n\(server.url("/b"))\nhttp://\n"
            let atomic = try await daemon.ctl("batch", "add", "--atomic", "-i", "-", input: list)
            #expect(atomic.exit == .code(3) && atomic.errors.contains("line 3: mailto:somebody: "), "\(atomic)")
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
            let added = try await daemon.ctl("batch", "add", "-w", "-i", "-", input: list)
            #expect(added.exit == .code(3), "\(added)")
            #expect(added.output.hasPrefix("batch 1: 2 tasks, 2 refused\n"), "\(added)")
            #expect(added.errors.contains("line 3: mailto:somebody: "), "\(added)")
            #expect(added.errors.contains("line 5: http://: "), "\(added)")
            #expect(added.output.contains("2 of 2\n"), "\(added)")
        }
    }

    /// Mirrors and options of single entries beside the batch's own.
    @Test func entriesOfABatchHaveTheOptionsOfTheirLines() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            let list = """
                http://127.0.0.1:9/a\thttp://127.0.0.1:9/b
                  out=one.iso
                  max-tries=3
                http://127.0.0.1:9/c
                  check-certificate=false
                http://127.0.0.1:9/d
                """
            let added = try await daemon.ctl("batch", "add", "-d", ".", "--label", "l", "-i", "-", input: list)
            #expect(added.exit == .code(3) && added.output == "batch 1: 2 tasks, 1 refused\n", "\(added)")
            #expect(added.errors.hasPrefix("xferctl: line 5: check-certificate: "), "\(added)")
            let task = try await daemon.task(1)
            #expect(task["urls"]?.arrayValue?.count == 2 && task["output"] == "one.iso", "\(task.text)")
            #expect(task["max_retries"] == 2 && task["label"] == "l" && task["dir"] == .string(daemon.downloads))
            #expect(try await daemon.task(2)["output"] == nil)
        }
    }

    @Test func batchEntriesAreValidatedOneByOneAndSharedOptionsApplyToAll() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            let url: JSONValue = "http://127.0.0.1:9/a"
            let params: JSONValue = [
                "tasks": [
                    url, nil, 5, "", ["url": url, "label": "own", "priority": "high"], ["label": "no url"],
                    ["url": url, "group": "g"], ["url": url, "client_key": "k"], ["url": url, "colour": "red"],
                ],
                "options": ["label": "shared"], "max_active": 2, "client_key": "k",
            ]
            let added = try await daemon.call("batch.add", params)
            #expect(added["ids"] == [1, 2] && added["batch"]?["total"] == 2 && added["existing"] == nil)
            let errors = added["errors"]?.arrayValue ?? []
            #expect(errors.map { $0["index"] } == [1, 2, 3, 5, 6, 7, 8])
            #expect(
                errors.map { $0["data"]?["path"]?.stringValue } == [
                    "tasks[1]", "tasks[2]", "tasks[3].url", "tasks[5].url", "tasks[6].group", "tasks[7].client_key",
                    "tasks[8].colour",
                ])
            let tasks = [try await daemon.task(1), try await daemon.task(2)]
            #expect(tasks.map { $0["label"] } == ["shared", "own"])
            #expect(tasks.map { $0["priority"] } == ["low", "high"])
            let news = try await daemon.call(
                "events.since", ["seq": try #require(added["seq"]), "types": ["task.added"]])
            #expect(news["events"]?.arrayValue?.compactMap { $0["task_id"] } == added["ids"]?.arrayValue)
            let again = try await daemon.call("batch.add", params)
            #expect(again["existing"] == true && again["ids"] == added["ids"] && again["errors"] == added["errors"])

            for (bad, path) in [
                (["tasks": [url], "options": ["colour": "red"]], "options.colour"),
                (["tasks": [url], "options": ["url": url]], "options.url"),
                (["tasks": [url], "options": ["group": "g"]], "options.group"), (["tasks": []], "tasks"),
                (["tasks": [url], "max_active": 0], "max_active"),
                (["tasks": [url, 7], "atomic": true], "tasks[1]"), (["tasks": [url], "client_key": "k"], "client_key"),
            ] as [(JSONValue, String)] {
                let refusal = await #expect(throws: RPCRefusal.self) { try await daemon.call("batch.add", bad) }
                #expect(refusal?.path == path, "\(bad.text): \(String(describing: refusal))")
            }
            let missing = await #expect(throws: RPCRefusal.self) { try await daemon.call("batch.get", ["id": 99]) }
            #expect(missing?.code == -32001)
        }
    }

    /// Two sources of one file: the later one would replace the other's.
    @Test func tasksOfOneCallThatNameOneFileAreRefused() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            let tasks: JSONValue = [
                ["url": "http://127.0.0.1:9/a", "output": "sub/x"], ["url": "http://127.0.0.1:9/b", "output": "sub/x"],
                ["url": "http://127.0.0.1:9/a", "output": "sub/x"], ["url": "http://127.0.0.1:9/b", "output": "y"],
            ]
            let batch = try await daemon.call("batch.add", ["tasks": tasks, "options": ["on_conflict": "verify"]])
            #expect(batch["ids"] == [1, 2, 3])
            let errors = batch["errors"]?.arrayValue ?? []
            #expect(errors.map { $0["data"]?["path"] } == ["tasks[1].output"])
            #expect(errors.first?["message"]?.stringValue?.contains("is also the file of tasks[0]") == true)
            let named = tasks.arrayValue?.map { task -> JSONValue in
                var fields = task.objectValue ?? JSONObject()
                fields["on_conflict"] = "overwrite"
                return .object(fields)
            }
            let refusal = try await daemon.refusal("task.add", ["tasks": .array(named ?? [])])
            #expect(refusal?.path == "tasks[1].output")
            let renamed = try await daemon.call("task.add", ["tasks": tasks])
            #expect(renamed["ids"] == [4, 5, 6, 7])
        }
    }

    /// `kill -9` in the middle: the batch completes with one event.
    @Test func aBatchSurvivesKills() async throws {
        let server = try await FaultServer()
        for index in 0..<40 { server.serve("/\(index)", .tagged(UInt64(index), length: 2000)) }
        try await withDaemon { daemon in
            let urls = (0..<40).map { JSONValue.string(server.url("/\($0)")) }
            let added = try await daemon.call("batch.add", ["tasks": .array(urls), "max_active": 1])
            #expect(added["ids"]?.arrayValue?.count == 40)
            for round in 1...3 {
                try await eventually("some have ended") {
                    try await daemon.call("batch.get", ["id": 1])["batch"]?["finished"]?.integerValue ?? 0 >= round * 8
                }
                await daemon.kill9()
                try await daemon.start()
            }
            let ended = try await daemon.ctl("batch", "show", "1", "--wait")
            #expect(ended.exit == .code(0) && ended.output.contains("40 of 40"), "\(ended)")
            #expect(try await daemon.events(types: "batch.completed").count == 1)
        }
    }

    @Test func groupsCanBeListedPausedAndLimitedFromTheCommandLine() async throws {
        let server = try await FaultServer()
        Self.serve(["/a", "/b"], on: server)
        try await withDaemon { daemon in
            #expect(try await daemon.ctl("group", "pause", "isos").exit == .code(3))
            #expect(try await daemon.ctl("group", "pause", "isos", "--create").output.contains("paused"))
            let id = try await daemon.add(server.url("/a"), ["group": "isos"])
            try await daemon.complete(try await daemon.add(server.url("/b"), ["group": "other"]))
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.view(id).state == "queued")
            let set = try await daemon.ctl("group", "set", "isos", "--max-active", "2")
            #expect(set.exit == .code(0) && set.output.contains("max active   2"), "\(set)")
            let list = try await daemon.ctl("group")
            #expect(list.output.split(separator: "\n").count == 3 && list.output.contains("isos"), "\(list)")
            #expect(try await daemon.call("group.get", ["name": "isos"])["group"]?["max_active"] == 2)
            #expect(try await daemon.call("group.list", ["limit": 1])["next_cursor"]?.stringValue != nil)
            #expect(try await daemon.ctl("group", "resume", "isos").exit == .code(0))
            try await daemon.complete(id)
            #expect(try await daemon.ctl("group", "remove", "isos").output == "removed isos\n")
            let get = try await daemon.ctl("group", "show", "isos")
            #expect(get.output.contains("no limit of its own"), "\(get)")
            let unknown = try await daemon.ctl("group", "show", "nobody")
            #expect(unknown.exit == .code(3) && unknown.errors.contains("there is no group"), "\(unknown)")
        }
    }
}

/// Every user has groups and batches of their own; limits are the operator's.
@Suite(.enabled(if: Guest.isPossible)) struct GroupAccessTests {
    @Test func usersHoldBackTheirOwnGroupsAndOperatorsLimitThem() async throws {
        let server = try await FaultServer()
        try await withGuest { daemon, guest in
            let mine = try await daemon.add(server.url("/a"), ["group": "g", "paused": true])
            let theirs = try await guest.add([
                "url": .string(server.url("/b")), "group": "g", "paused": true, "dir": .string(guest.root),
            ])
            #expect(theirs != mine)
            #expect(try await guest(["group", "pause", "g"]).exit == .code(0))
            #expect(try await daemon.call("group.get", ["name": "g"])["group"]?["paused"] == false)
            for method in ["group.set", "group.remove"] {
                #expect(try await guest.call(method, ["name": "g", "max_active": 1]).error.contains("operators only"))
            }
            #expect(try await guest.call("group.pause", ["name": "g", "owner": 0]).error.contains("no group"))
            let all = try await daemon.call("group.list")["groups"]?.arrayValue ?? []
            #expect(all.map { $0["owner"] } == [0, .integer(guest.uid)] && all.map { $0["paused"] } == [false, true])
            let set = try await daemon.ctl("group", "set", "g", "--owner", "\(guest.uid)", "--max-active", "1")
            #expect(set.exit == .code(0), "\(set)")
            #expect(try await guest.call("group.list").result?["groups"]?.arrayValue?.map { $0["max_active"] } == [1])

            let added = try await daemon.call("batch.add", ["tasks": ["http://127.0.0.1:9/x"]])
            let batch = try #require(added["batch"]?["id"])
            #expect(try await guest.call("batch.get", ["id": batch]).error.contains("no batch"))
            #expect(try await guest.call("batch.list").result?["batches"] == [])
            let own = try await guest.call(
                "batch.add", ["tasks": [.string(server.url("/c"))], "options": ["dir": .string(guest.root)]])
            #expect(own.result?["batch"]?["owner"] == .integer(guest.uid), "\(own.error)")
            // The newest comes first.
            let first = try await daemon.call("batch.list", ["limit": 1])
            #expect(first["batches"]?.arrayValue?.map { $0["owner"] } == [.integer(guest.uid)])
            let cursor = try #require(first["next_cursor"])
            let second = try await daemon.call("batch.list", ["limit": 1, "cursor": cursor])
            #expect(second["batches"]?.arrayValue?.map { $0["id"] } == [batch] && second["next_cursor"] == .null)
            #expect(try await guest.call("batch.list", ["cursor": "x"]).error.contains("next_cursor"))
            let list = try await daemon.ctl("batch", "list")
            #expect(list.output.split(separator: "\n").count == 3 && list.output.contains("0 of 1"), "\(list)")
        }
    }
}
