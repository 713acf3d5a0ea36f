import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// A server that limits its clients holds up every task for its host, until a user asks at once.
struct HostCooldownTests {
    @Test func queuedTasksOfACoolingHostReportTheReasonTheTimeAndTheURLUntilTheyAreResumed() async throws {
        let server = try await FaultServer()
        server.on("/busy") { _ in .failure(429, retryAfter: "3000") }
        server.on("/other") { _ in Reply(200, text: "ok") }
        try await withDaemon { daemon in
            let first = try await daemon.add(server.url("/busy?token=s3cret"))
            try await eventually("it waits") { try await daemon.task(first)["state"] == "waiting" }
            let second = try await daemon.add(server.url("/other"))
            let task = try await daemon.task(second)
            #expect(task["state"] == "queued")
            #expect(task["wait"]?["reason"] == "host_cooldown" && task["wait"]?["until"] != nil, "\(task)")
            #expect(task["wait"]?["url"] == .string(server.url("/busy?token=***")), "\(task)")
            let listed = try await daemon.call("task.list", ["filter": ["ids": [.integer(second)]]])
            #expect(listed["tasks"]?.arrayValue?.first?["wait"]?["reason"] == "host_cooldown")
            let shown = try await daemon.ctl("show", "\(second)").output
            #expect(shown.contains("/busy?token=***"), "\(shown)")
            // A host that can be asked has no part in it.
            let other = try await FaultServer()
            other.onAnyOther { _ in Reply(200, text: "ok") }
            try await daemon.complete(try await daemon.add(other.url("/x")))

            let resumed = try await daemon.ctl("queue", "resume", "--now")
            #expect(resumed.exit == .code(0), "\(resumed)")
            try await eventually("it ends") { try await daemon.task(second)["state"] == "completed" }
        }
    }
}
