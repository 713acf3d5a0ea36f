import StrictJSON
import Testing
import XferTestSupport

/// The log of the real daemon.
@Suite struct LogTests {
    @Test func theLogShowsFieldsAndNoTypesOfTheProgram() async throws {
        let trust = try TrustFixture()
        let secure = try trust.server(try trust.authority.issue())
        let server = try await FaultServer()
        server.serve("/f", .tagged(140, length: 200_000), faults: [[.drop(after: 100_000)]])
        server.onAnyOther { request in Reply(request.method == "PUT" ? 201 : 404, text: "") }
        var options = trust.options()
        options.settings["log"] = ["level": "trace"]
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        options.settings["webhooks"] = ["broken": "{url: \"http://127.0.0.1:\(closed.number)/\"}"]
        try await withDaemon(options) { daemon in
            try await daemon.complete(try await daemon.add(server.url("/f"), ["store": true]))
            try await daemon.fails(try await daemon.add(server.url("/missing")), "http_status")
            let source = "\(daemon.downloads)/source"
            try FileTree.write("sent", to: source)
            let upload: JSONObject = ["kind": "upload", "source": .string(source)]
            try await daemon.complete(try await daemon.add(server.url("/up"), upload))
            let url = "https://localhost:\(secure.port)/f"
            try await daemon.complete(try await daemon.add(url))
            try await daemon.pin("watched", "localhost", [TrustFixture.foreignPin], ["report_only": true])
            try await daemon.complete(try await daemon.add(url, ["output": "reported"]))
            try await daemon.pin("strict", "localhost:\(secure.port)", [TrustFixture.foreignPin])
            try await daemon.fails(try await daemon.add(url), "pin_mismatch")
            try await eventually("the delivery has failed") {
                daemon.log.contains("a webhook did not accept a delivery")
            }
            try await daemon.stop()

            for part in ["a task has failed", "report-only trust policy would have refused", "reason=pin_mismatch"] {
                #expect(daemon.log.contains(part), "\(part)")
            }
            // As Swift prints values: `TransferError(reason: …)`, `miss(why: …)`, `Optional(…)`, `XferModel.TaskID`.
            let types = daemon.log.split(separator: "\n").filter {
                // ServiceLifecycle names the types of the services that it starts.
                $0.contains(/\w\(\w+: |Optional\(|\bXfer[A-Z]\w+\.[A-Z]/) && !$0.contains("sl-service")
            }
            #expect(types == [])
        }
    }

    @Test func aTaskThatIsRetriedIsLoggedWithAllItsAttempts() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(404, text: "") }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/late"))
            try await daemon.fails(id, "http_status")
            server.serve("/late", .tagged(1, length: 1000))
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            _ = try await daemon.complete(id)
            try await eventually("logged") { daemon.log.contains("a task has completed") }
            let line = try #require(daemon.log.split(separator: "\n").last { $0.contains("a task has completed") })
            #expect(line.contains(" attempts=2 ") && line.contains(" bytes=1000 "), "\(line)")
        }
    }
}
