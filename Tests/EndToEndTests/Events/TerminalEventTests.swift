import StrictJSON
import Testing
import XferTestSupport

/// However a transfer ends, its end has one event, with the facts that `task.get` shows.
@Suite struct TerminalEventTests {
    private static let source = SourceVersion.tagged(150, length: 100_000)
    private static let wrongDigest = JSONValue.string("md5=" + String(repeating: "0", count: 32))

    /// Faults for the first requests, further fields of the task, and the reason it fails for; nil completes it.
    private static let ends: [(faults: [[Fault]], fields: JSONObject, reason: String?)] = [
        ([], [:], nil),
        ([[.drop(after: 1000)], [.noAnswer()], [.status(503, retryAfter: "0")]], [:], nil),
        ([[.status(404)]], [:], "http_status"),
        ([[.status(404)]], ["kind": "data"], "http_status"),
        ([[.status(401)]], [:], "auth_failed"),
        ([[.drop(after: 1000)], [.drop(after: 2000)]], ["max_retries": 0], "connection_lost"),
        ([[.drop(after: 1000, by: .close)]], ["max_retries": 0], "short_body"),
        ([[.hang(after: 1000)]], ["idle_timeout": 1, "max_retries": 0], "idle_timeout"),
        ([[.garbageHead]], ["max_retries": 0], "protocol_error"),
        ([[.reply(.redirect(to: "/elsewhere"))]], ["redirect": "deny"], "redirect_denied"),
        ([], ["checksum": wrongDigest], "checksum_mismatch"),
        ([], ["accept_types": ["json"]], "unacceptable_type"),
    ]

    @Test(arguments: ends.indices) func everyEndOfATaskEmitsExactlyOneTerminalEvent(_ index: Int) async throws {
        let end = Self.ends[index]
        let server = try await FaultServer()
        server.serve("/f", Self.source, faults: end.faults)
        try await withTask(server.url("/f"), end.fields) { daemon, id in
            let view = try await daemon.finish(id)
            #expect(view.state == (end.reason == nil ? "completed" : "failed"), "\(view.json.text)")
            #expect(view.errorReason == end.reason, "\(view.json.text)")
            // What comes later could tell it a second time.
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            try await daemon.stop()
            try await daemon.start()
            let told = try await daemon.events(of: id).filter { $0["terminal"] == true }
            #expect(told.count == 1)
            #expect(told.first?["state"]?.stringValue == view.state)
            for fact in ["reason", "message", "is_retriable", "http_status", "curl_code", "host"] {
                #expect(told.first?["error"]?[fact] == view.json["error"]?[fact], "\(fact)")
            }
            #expect(told.first?["path"]?.stringValue == view.finalPath)
            if end.reason == nil { #expect(told.first?["size"]?.integerValue == Self.source.length) }
            #expect(try await daemon.events(of: id).last?["type"] == told.first?["type"], "nothing follows it")
        }
    }
}
