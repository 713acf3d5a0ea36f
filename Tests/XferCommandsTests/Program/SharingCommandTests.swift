import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferCommands

@Suite struct SharingCommandTests {
    private static let entry: JSONValue = [
        "id": 3, "url": "https://example.org/gone.iso?token=***", "method": "GET", "owner": 1000, "task_id": 17,
        "error": [
            "reason": "http_status", "message": "example.org answered 404 (Not Found)", "is_retriable": false,
        ],
        "failed_at": "2026-01-02T03:04:05.678Z", "expires_at": "2026-01-02T04:04:05.678Z",
    ]

    @Test func addSendsTheSlotAndTheRetryFailedOption() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let added = try await Program.run(
            ["add", "--slot", "avatar", "--no-retry-failed", "http://host/f"], daemon: daemon)
        #expect(added.exit == .code(0), "\(added)")
        #expect(daemon.calls(of: "task.add") == [["url": "http://host/f", "slot": "avatar"]])
        let two = try await Program.run(["add", "--slot", "avatar", "http://host/f", "http://host/g"], daemon: daemon)
        #expect(two.exit == .code(2) && two.errors.contains("a slot has one task at a time"), "\(two)")
    }

    @Test(arguments: [("detach", "detached: #17\n"), ("cancel", "cancelled: #17\n")])
    func slotRemoveEmptiesTheSlotByName(verb: String, output: String) async throws {
        let daemon = try ScriptedDaemon { _, params in
            .result(["task": params["slot"] == "avatar" ? Wire.task(17, "running") : .null])
        }
        let result = try await Program.run(["slot", verb, "avatar"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output == output, "\(result)")
        #expect(daemon.calls(of: "slot.\(verb)") == [["slot": "avatar"]])
        let empty = try await Program.run(["slot", verb, "banner"], daemon: daemon)
        #expect(empty.exit == .code(0) && empty.output == "nothing is in banner\n", "\(empty)")
    }

    @Test func slotGetShowsTheTask() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(17, "running", ["slot": "avatar"])]) }
        let result = try await Program.run(["slot", "get", "avatar"], daemon: daemon)
        #expect(result.output.contains("id                 17\n"), "\(result)")
        #expect(result.output.contains("slot               avatar\n"), "\(result)")
        let json = try await Program.run(["slot", "get", "--json", "avatar"], daemon: daemon)
        #expect(json.output == JSONValue.object(["task": Wire.task(17, "running", ["slot": "avatar"])]).text + "\n")
    }

    @Test func failedURLListPrintsATableOverAllPages() async throws {
        let daemon = try ScriptedDaemon { _, params in
            .result(["entries": [Self.entry], "next_cursor": params["cursor"] == nil ? "more" : .null])
        }
        let result = try await Program.run(["failed-url"], daemon: daemon)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3, "\(result)")
        #expect(lines[0].contains("URL") && lines[1].contains("token=***") && lines[1].contains("answered 404"))
        #expect(daemon.calls(of: "failed_url.list").map { $0["limit"] } == [100, 99])
        #expect(daemon.calls(of: "failed_url.list").last?["cursor"] == "more")
    }

    @Test func failedURLRemoveAcceptsIDsURLsAndAll() async throws {
        let daemon = try ScriptedDaemon { method, params in
            if method == "failed_url.clear" { return .result(["removed_count": 5]) }
            return .result(
                params["url"] == nil ? ["removed": [3], "missing": [9]] : ["removed": [4, 5], "missing": []])
        }
        let result = try await Program.run(["failed-url", "remove", "3", "9", "http://host/f"], daemon: daemon)
        #expect(daemon.calls(of: "failed_url.remove") == [["ids": [3, 9]], ["url": "http://host/f"]])
        #expect(result.output == "3 removed\n", "\(result)")
        #expect(result.exit == .code(3) && result.errors == "xferctl: there is no entry 9\n", "\(result)")
        let cleared = try await Program.run(["failed-url", "clear"], daemon: daemon)
        #expect(cleared.output == "5 removed\n")
    }

    @Test func waitTreatsASupersededTaskAsCancelled() async throws {
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "task.list": .result(["tasks": [Wire.task(1, "running")], "next_cursor": nil])
            case "events.subscribe": .result(["subscription": 1, "last_seq": 4])
            case "daemon.status": .result(DaemonStatus.Result().wire)
            default: .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
        async let waited = Program.run(["wait", "1"], daemon: daemon)
        try await daemon.called("task.list")
        daemon.emit(
            Wire.event("task.superseded", 1, seq: 5, ["terminal": true, "state": "cancelled", "by": 2]))
        let result = try await waited
        #expect(result.exit == .code(1) && result.output.contains("cancelled"), "\(result)")
    }
}
