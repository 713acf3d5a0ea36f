import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

/// The queue as a list, and back.
@Suite struct ExportRoundTripTests {
    @Test func anExportedQueueIsAddedAgainWithItsSecrets() async throws {
        try await withDaemon { daemon in
            let url = "http://a.test/f?token=s3cret"
            let id = try await daemon.add(
                url,
                [
                    "paused": true, "output": "x.iso", "headers": ["X-A": "b"], "max_recv_rate": 2048,
                    "on_conflict": "continue",
                ])
            let masked = try await daemon.ctl("export")
            #expect(masked.exit == .code(3) && masked.output.isEmpty, "\(masked)")
            #expect(masked.errors.contains("--show-secrets") && !masked.errors.contains("s3cret"), "\(masked)")
            let list = try await daemon.ctl("export", "--show-secrets")
            #expect(list.exit == .code(0) && list.output.hasPrefix(url + "\n"), "\(list)")
            let added = try await daemon.ctl("add", "-i", "-", input: list.output)
            #expect(added.exit == .code(0), "\(added)")
            let tasks = try await daemon.call(
                "task.list", ["fields": ["url", "headers", "output", "dir", "max_recv_rate", "on_conflict", "state"]])
            var records = (tasks["tasks"]?.arrayValue ?? []).compactMap(\.objectValue)
            #expect(records.count == 2 && records.contains { $0["id"] == .integer(id) })
            for index in records.indices { records[index]["id"] = nil }
            #expect(records.first == records.last, "\(records)")
        }
    }
}

/// Who sees a task's secrets.
@Suite(.enabled(if: Guest.curl != nil, "needs curl"))
struct SecretFieldsTests {
    @Test func secretsAreShownOverTheUnixSocketAlone() async throws {
        let remote = try await RemoteDaemon()
        let token = try await remote.token("all", "operate")
        let id = try await remote.daemon.add("http://a.test/f?token=s3cret", ["paused": true])
        let params: JSONValue = ["id": .integer(id), "secrets": true]
        let own = try await remote.daemon.call("task.get", params)
        #expect(own["task"]?["url"] == "http://a.test/f?token=s3cret")
        #expect(try await remote.daemon.call("task.get", ["id": .integer(id)])["task"]?["url"] != own["task"]?["url"])
        let answer = try await remote.call("task.get", params, token)
        #expect(answer["error"]?["code"]?.integerValue == ErrorCode.permissionDenied.rawValue, "\(answer.text)")
        #expect(!answer.text.contains("s3cret"))
        try await remote.daemon.stop()
    }
}
