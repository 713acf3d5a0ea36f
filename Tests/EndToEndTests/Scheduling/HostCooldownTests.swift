import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// A server that answers with `Retry-After` holds up every task for its host.
struct HostCooldownTests {
    @Test func queuedTasksOfACoolingHostReportTheReasonAndTheTime() async throws {
        let server = try await FaultServer()
        server.on("/busy") { _ in
            Reply(503, headers: [HeaderField(name: "Retry-After", value: "3000")], text: "later")
        }
        try await withDaemon { daemon in
            let first = try await daemon.add(server.url("/busy"))
            try await eventually("it waits") { try await daemon.task(first)["state"] == "waiting" }
            let second = try await daemon.add(server.url("/other"))
            let task = try await daemon.task(second)
            #expect(task["state"] == "queued")
            #expect(task["wait"]?["reason"] == "host_cooldown" && task["wait"]?["until"] != nil, "\(task)")
            let listed = try await daemon.call("task.list", ["filter": ["ids": [.integer(second)]]])
            #expect(listed["tasks"]?.arrayValue?.first?["wait"]?["reason"] == "host_cooldown")
            // A host that can be asked has no part in it.
            let other = try await FaultServer()
            other.onAnyOther { _ in Reply(200, text: "ok") }
            try await daemon.complete(try await daemon.add(other.url("/x")))
        }
    }
}
