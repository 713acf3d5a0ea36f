import StrictJSON
import Testing
import XferTestSupport

/// What a pause costs: no bytes where they can be continued, and never a try.
@Suite struct PausingTests {
    @Test(arguments: ["\"v1\"", "W/\"v1\""]) func aTaskReportsWhetherItsBytesCanBeContinued(tag: String) async throws {
        let gate = Gate()
        let server = try await FaultServer()
        let source = SourceVersion(seed: 1, length: 300_000, etag: tag)
        server.serve("/f", source, faults: [[.stall(at: 100_000, until: gate)]])
        let isResumable = JSONValue.bool(!tag.hasPrefix("W/"))
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f"), ["paused": true])
            #expect(try await daemon.task(id)["resumable"] == nil)
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.waitForBytes(100_000, of: id)
            #expect(try await daemon.task(id)["resumable"] == isResumable)
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            gate.open()
            // Known from the database, too, once the run has ended.
            try await daemon.stop()
            try await daemon.start()
            #expect(try await daemon.task(id)["resumable"] == isResumable)
            let listed = try await daemon.call("task.list", ["fields": ["resumable"]])
            #expect(listed["tasks"] == [["id": .integer(id), "resumable": isResumable]])
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.map { $0.header("Range") } == [nil, isResumable == true ? "bytes=100000-" : nil])
        }
    }

    @Test func aQueueThatWasPausedWithItsTasksContinuesThemWhenItIsResumed() async throws {
        let gate = Gate()
        let server = try await FaultServer()
        let source = SourceVersion.tagged(3, length: 300_000)
        server.serve("/f", source, faults: [[.stall(at: 100_000, until: gate)]])
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.waitForBytes(100_000, of: id)
            let paused = try await daemon.ctl("queue", "pause", "--running")
            #expect(paused.isSuccess, "\(paused)")
            try await daemon.wait(id, for: "queued")
            try await eventually("it waits for the queue") {
                try await daemon.task(id)["wait"]?["reason"] == "queue_paused"
            }
            gate.open()
            try await daemon.stop()
            try await daemon.start()
            #expect(try await daemon.task(id)["state"] == "queued")
            #expect(try await daemon.ctl("queue", "resume").isSuccess)
            try expectFile(try await daemon.complete(id), is: source)
        }
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
    }

    @Test func pausesUseUpNoTries() async throws {
        let gate = Gate()
        let server = try await FaultServer()
        let source = SourceVersion.tagged(2, length: 10_000)
        let pauses = 5
        server.serve(
            "/f", source,
            faults: Array(repeating: [.stallHead(until: gate)], count: pauses) + [[.status(503)]])
        try await withTask(server.url("/f"), ["max_retries": 1]) { daemon, id in
            for count in 1...pauses {
                try await eventually("request \(count)") { server.requests.count == count }
                _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
                _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            }
            try expectFile(try await daemon.complete(id), is: source)
        }
        gate.open()
    }
}
