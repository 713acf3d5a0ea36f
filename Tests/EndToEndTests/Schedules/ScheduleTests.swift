import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// When tasks run, with the real programs and the real clock.
@Suite struct ScheduleTests {
    private func later(_ milliseconds: Int64) -> Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(
            microseconds: (Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000 + milliseconds) * 1000)
    }

    @Test func aPassedDeadlineEndsARunningTask() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/a", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        try await withDaemon { daemon in
            let deadline = later(1500)
            let id = try await daemon.add(server.url("/a"), ["deadline": .string(deadline.description)])
            let task = try await daemon.wait(id, for: "failed")
            #expect(task["error"]?["reason"] == "deadline_exceeded")
            #expect(Timestamp(rfc3339: task["finished_at"]?.stringValue ?? "") ?? .init(seconds: 0) >= deadline)
            #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
            let shown = try await daemon.ctl("show", "\(id)")
            #expect(shown.output.contains("deadline") && shown.output.contains("Try it without its deadline"))
            gate.open()
        }
    }

    /// Killed while a chain waits: nothing is forgotten, and the failure reaches its end.
    @Test func aChainOfDependentTasksSurvivesAKill() async throws {
        let server = try await FaultServer()
        for name in ["a", "b", "c"] { server.serve("/\(name)", .tagged(1, length: 1000)) }
        try await withDaemon { daemon in
            let first = try await daemon.add(server.url("/a"), ["paused": true])
            let second = try await daemon.add(server.url("/b"), ["after": [.integer(first)]])
            let added = try await daemon.ctl("add", "--after", "\(second)", "-d", ".", server.url("/c"))
            #expect(added.exit == .code(0), "\(added)")
            let third = second + 1
            let listed = try await daemon.ctl("list")
            #expect(listed.output.contains("for another task"), "\(listed)")
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.task(third)["wait"]?["reason"] == "dependency")
            _ = try await daemon.call("task.resume", ["ids": [.integer(first)]])
            try await daemon.wait(third, for: "completed")

            let fourth = try await daemon.add(server.url("/a"), ["paused": true])
            let fifth = try await daemon.add(server.url("/b"), ["after": [.integer(fourth)]])
            let sixth = try await daemon.add(server.url("/c"), ["after": [.integer(fifth)]])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(fourth)]])
            await daemon.kill9()
            try await daemon.start()
            let failed = try await daemon.wait(sixth, for: "failed")
            #expect(failed["error"]?["reason"] == "dependency_failed")
            for id in [fifth, sixth] {
                #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
            }
        }
    }

    @Test func theOutcomeOfARemovedTaskCountsForItsDependents() async throws {
        let server = try await FaultServer()
        for name in ["a", "b", "c"] { server.serve("/\(name)", .tagged(1, length: 1000)) }
        try await withDaemon { daemon in
            let held = try await daemon.add(server.url("/a"), ["paused": true])
            let done = try await daemon.add(server.url("/b"))
            let last = try await daemon.add(server.url("/c"), ["after": [.integer(held), .integer(done)]])
            try await daemon.wait(done, for: "completed")
            _ = try await daemon.call("task.remove", ["ids": [.integer(done)]])
            _ = try await daemon.call("task.resume", ["ids": [.integer(held)]])
            try await daemon.wait(last, for: "completed")
            // But no new task can wait for it.
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await daemon.add(server.url("/c"), ["after": [.integer(done)]])
            }
            #expect(refusal?.code == -32001 && refusal?.path == "after[0]", "\(String(describing: refusal))")
        }
    }

    @Test func aTaskThatWaitsForItsTimeStillWaitsAfterARestart() async throws {
        let server = try await FaultServer()
        server.serve("/a", .tagged(1, length: 1000))
        try await withDaemon { daemon in
            let far = later(3_600_000)
            let id = try await daemon.add(server.url("/a"), ["not_before": .string(far.description)])
            try await daemon.stop()
            try await daemon.start()
            let wait = try await daemon.task(id)["wait"]
            #expect(wait?["until"]?.stringValue == far.description)
            #expect(wait?["reason"] == "schedule")
            let start = later(1000)
            _ = try await daemon.call(
                "task.update", ["id": .integer(id), "changes": ["not_before": .string(start.description)]])
            let task = try await daemon.wait(id, for: "completed")
            #expect(Timestamp(rfc3339: task["started_at"]?.stringValue ?? "") ?? .init(seconds: 0) >= start)
        }
    }

    @Test func aContradictorySchedulingFieldIsRefusedByName() async throws {
        try await withDaemon { daemon in
            let url = JSONValue.string("http://127.0.0.1:9/x")
            for (fields, path) in [
                (["window": ["days": ["mon"], "zone": "Europe/Atlantis"]], "window.zone"),
                (["window": ["times": []]], "window.times"),
                (["not_before": "2999-01-01T00:00:00Z", "deadline": "2998-01-01T00:00:00Z"], "deadline"),
                (["after": [4711]], "after[0]"), (["after": [-1]], "after[0]"),
            ] as [(JSONObject, String)] {
                var params = fields
                params["url"] = url
                let one = await #expect(throws: RPCRefusal.self) { try await daemon.call("task.add", .object(params)) }
                #expect(one?.path == path, "\(String(describing: one))")
                let plain: JSONValue = ["url": url, "paused": true]
                guard path != "after[0]" || fields["after"] != [-1] else { continue }
                let many = await #expect(throws: RPCRefusal.self) {
                    try await daemon.call("task.add", ["tasks": [plain, .object(params)]])
                }
                #expect(many?.path == "tasks[1].\(path)", "\(String(describing: many))")
            }
            #expect(try await daemon.call("queue.stats")["counts"]?["paused"] == 0)
            let ids = try await daemon.call(
                "task.add",
                [
                    "tasks": [
                        ["url": url, "paused": true], ["url": url, "after": [-1]], ["url": url, "after": [-1, -2]],
                    ]
                ])["ids"]
            let first = try #require(ids?.arrayValue?.first?.integerValue)
            #expect(try await daemon.task(first + 2)["after"] == [.integer(first + 1), .integer(first)])
            let circle = await #expect(throws: RPCRefusal.self) {
                try await daemon.call(
                    "task.update", ["id": .integer(first), "changes": ["after": [.integer(first + 2)]]])
            }
            #expect(
                circle?.description.contains("\(first) → \(first + 2) → \(first)") == true,
                "\(String(describing: circle))")
            // A window in the machine's zone, changed by the command line, shown with what it waits for.
            let updated = try await daemon.ctl(
                "update", "\(first + 1)", "--clear", "after", "--not-before", "2999-01-01T00:00:00Z", "--window",
                "mon-fri 22:00-06:00")
            #expect(updated.output == "updated: #\(first + 1)\n", "\(updated)")
            let shown = try await daemon.ctl("show", "\(first + 1)")
            #expect(shown.output.contains("mon,tue,wed,thu,fri 22:00-06:00 local"), "\(shown)")
            #expect(shown.output.contains("for its time in"), "\(shown)")
        }
    }
}
