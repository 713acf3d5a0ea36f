import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Several sources of one file, through the whole service.
@Suite struct MirrorDaemonTests {
    private static let length: Int64 = 300_000
    private static let cut: Int64 = 100_000

    /// The right bytes under a tag of the server's own.
    private func version(_ tag: String) -> SourceVersion { SourceVersion(seed: 60, length: Self.length, etag: tag) }

    private func add(_ daemon: DaemonFixture, _ urls: [String], _ fields: JSONObject = [:]) async throws -> Int64 {
        var params = fields
        params["urls"] = .array(urls.map { .string($0) })
        let result = try await daemon.call("task.add", .object(params))
        return try #require(result["task"]?["id"]?.integerValue)
    }

    @Test func aDownloadKilledOnItsSecondMirrorContinuesOnThatMirror() async throws {
        let (first, second) = (try await FaultServer(), try await FaultServer())
        let gate = Gate()
        first.serve("/f", SourceVersion(seed: 61, length: Self.length, etag: "\"other\"")).always(.status(503))
        second.serve("/f", version("\"b\""), faults: [[.stall(at: Self.cut, until: gate)]])
        let options = DaemonFixture.Options(settings: ["download": ["checkpoint_bytes": "65536"]])
        try await withDaemon(options) { daemon in
            let id = try await add(daemon, [first.url("/f"), second.url("/f")])
            await gate.arrived()
            try await eventually("some of it is durable") {
                try await daemon.call("task.read", ["id": .integer(id), "length": 1])["data"]?.stringValue?.isEmpty
                    == false
            }
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            try expectFile(try await daemon.complete(id), is: version("\"b\""))
            #expect(first.requests.count == 1)
            let ranges = second.requests.map { $0.header("Range") }
            #expect(ranges.count == 2 && ranges[0] == nil)
            #expect(try await daemon.events(of: id, types: "task.source_changed").isEmpty)
        }
    }

    @Test func aDataTaskTakesTheAnswerOfTheFirstMirrorThatHasOne() async throws {
        let (first, second) = (try await FaultServer(), try await FaultServer())
        first.on("/gone") { _ in Reply(404, headers: [], text: "gone") }
        first.on("/busy") { _ in Reply(503, headers: [], text: "busy") }
        second.on("/gone") { _ in Reply(200, headers: [], text: "answer") }
        second.on("/busy") { _ in Reply(410, headers: [], text: "gone for good") }
        try await withDaemon { daemon in
            let secret: JSONObject = ["kind": "data", "headers": ["Authorization": "Bearer s3cret"], "max_retries": 0]
            let id = try await add(daemon, [first.url("/gone"), second.url("/gone")], secret)
            let view = try await daemon.complete(id)
            #expect(view.json["final_url"]?.stringValue == second.url("/gone"))
            #expect(try await daemon.call("task.result", ["id": .integer(id)])["data"] == "answer")
            #expect(try await daemon.events(of: id, types: "task.response").count == 1)
            #expect(first.requests.first?.header("Authorization") == "Bearer s3cret")
            #expect(second.requests.first?.header("Authorization") == nil, "it belongs to the first one's origin")
            // The one that may be better later decides.
            let other = try await add(daemon, [second.url("/busy"), first.url("/busy")], secret)
            let failed = try await daemon.fails(other, "http_status")
            #expect(failed.json["error"]?["http_status"]?.integerValue == 503, "\(failed.json.text)")
        }
    }

    /// Bytes of both, held together by the checksum, killed on the second.
    @Test func aDownloadKilledWithBytesOfTwoMirrorsContinuesOnTheSecond() async throws {
        let (first, second) = (try await FaultServer(), try await FaultServer())
        let gate = Gate()
        first.serve("/f", version("\"a\""), faults: [[.drop(after: Self.cut)]]).always(.status(404))
        second.serve("/f", version("\"b\""), faults: [[.stall(at: Self.cut, until: gate)]])
        try await withDaemon { daemon in
            let checksum = JSONValue.string(version("").checksum().description)
            let id = try await add(daemon, [first.url("/f"), second.url("/f")], ["checksum": checksum])
            await gate.arrived()
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            try expectFile(try await daemon.complete(id), is: version(""))
            #expect(second.requests.first?.header("Range") == "bytes=\(Self.cut)-")
            #expect(second.requests.last?.header("Range")?.hasPrefix("bytes=") == true)
            #expect(try await daemon.events(of: id, types: "task.source_changed").isEmpty)
        }
    }

    @Test func theCommandLineNamesMirrorsAndShowsThemWithoutSecrets() async throws {
        let (first, second) = (try await FaultServer(), try await FaultServer())
        first.serve("/f", version("\"a\"")).always(.status(404))
        second.serve("/f", version("\"b\""))
        try await withDaemon { daemon in
            let added = try await daemon.ctl(
                "add", "--wait", "-d", daemon.downloads, first.url("/f"), "--mirror", second.url("/f?token=secret"))
            #expect(added.isSuccess, "\(added)")
            let task = try await daemon.task(1)
            #expect(
                task["urls"]?.arrayValue?.compactMap(\.stringValue) == [
                    first.url("/f"), second.url("/f?token=***"),
                ])
            #expect(task["url"]?.stringValue == first.url("/f"))
            #expect(task["final_url"]?.stringValue == second.url("/f?token=***"))
            let shown = try await daemon.ctl("show", "1")
            #expect(shown.output.contains(second.url("/f?token=***")))
            let two = try await daemon.ctl("add", first.url("/f"), first.url("/g"), "--mirror", second.url("/f"))
            #expect(two.exit == .code(2))
        }
    }

    @Test func batchEntriesMayHaveMirrors() async throws {
        let server = try await FaultServer()
        server.serve("/f", version("\"a\""))
        try await withDaemon { daemon in
            let good: JSONValue = [.string(server.url("/f")), .string(server.url("/g"))]
            let bad: JSONValue = [.string(server.url("/f")), "ftp://127.0.0.1/f"]
            let result = try await daemon.call("batch.add", ["tasks": [["urls": good], ["urls": bad]]])
            let errors = try #require(result["errors"]?.arrayValue)
            #expect(errors.count == 1 && errors[0]["data"]?["path"]?.stringValue == "tasks[1].urls[1]")
            let id = try #require(result["ids"]?.arrayValue?.first?.integerValue)
            try expectFile(try await daemon.complete(id), is: version("\"a\""))
        }
    }
}
