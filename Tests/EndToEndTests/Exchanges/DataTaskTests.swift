import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Requests whose answers are kept, through the real daemon.
@Suite struct DataTaskTests {
    private static let json = [HeaderField(name: "Content-Type", value: "application/json; charset=utf-8")]

    private func add(
        _ method: String, _ url: String, to daemon: DaemonFixture, _ fields: JSONObject = [:]
    ) async throws -> Int64 {
        var fields = fields
        fields["kind"] = "data"
        fields["method"] = .string(method)
        return try await daemon.add(url, fields)
    }

    private func result(_ id: Int64, _ daemon: DaemonFixture) async throws -> JSONValue {
        try await daemon.call("task.result", ["id": .integer(id)])
    }

    @Test func aJSONAnswerIsParsedAndItsNullsAreStripped() async throws {
        let server = try await FaultServer()
        server.on("/api") { _ in
            Reply(200, headers: Self.json, text: "{\"a\":null,\"b\":[null,{\"c\":null}]}")
        }
        server.on("/empty") { _ in Reply(200, headers: Self.json, text: " ") }
        server.on("/bad") { _ in Reply(200, headers: Self.json, text: "{\"token-like\": ") }
        server.on("/refused") { _ in Reply(422, headers: Self.json, text: "{\"error\":\"no such hook\"}") }
        try await withDaemon { daemon in
            let id = try await add("GET", server.url("/api"), to: daemon, ["parse": ["json"], "strip_nulls": true])
            try await daemon.complete(id)
            let whole = try await result(id, daemon)
            #expect(whole["object"] == ["b": [nil, [:]]])
            #expect(whole["data"] == "{\"a\":null,\"b\":[null,{\"c\":null}]}")
            #expect(whole["encoding"] == "utf-8")

            let empty = try await add("GET", server.url("/empty"), to: daemon, ["parse": ["json"]])
            try await daemon.complete(empty)
            #expect(try await result(empty, daemon)["object"] == .null)

            let bad = try await add("GET", server.url("/bad"), to: daemon, ["parse": ["json"]])
            let failed = try await daemon.fails(bad, "parse_failed")
            #expect(!failed.errorMessage.contains("token-like"))
            #expect(try await result(bad, daemon)["data"] == "{\"token-like\": ")

            let refused = try await add("POST", server.url("/refused"), to: daemon, ["parse": ["json"]])
            try await daemon.fails(refused, "http_status")
            #expect(try await result(refused, daemon)["object"] == ["error": "no such hook"])
            let text = try await daemon.ctl("result", "\(refused)")
            #expect(text.output == "{\"error\":\"no such hook\"}")
        }
    }

    @Test func setsOfStatusesAndRangesOfMediaTypesAreAccepted() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(404, headers: [HeaderField(name: "Content-Type", value: "image/png")], text: "x")
        }
        try await withDaemon { daemon in
            let fields: JSONObject = ["accept_status": "404, 200-299", "accept_types": ["image/*"]]
            let done = try await daemon.complete(try await add("GET", server.url("/a"), to: daemon, fields))
            #expect(done.json["accept_status"] == "200-299,404" && done.json["accept_types"] == ["image/*"])
            var picky = fields
            picky["accept_types"] = ["video/*"]
            try await daemon.fails(try await add("GET", server.url("/b"), to: daemon, picky), "unacceptable_type")
        }
    }

    /// What is sent does not depend on where the response goes.
    @Test func theContentOfARequestIsSentAlsoIfTheResponseBecomesAFile() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            let length = HeaderField(name: "Content-Length", value: "\(request.body.count)")
            return Reply(200, headers: [length], body: [.bytes(request.body)])
        }
        try await withDaemon { daemon in
            let file = "\(daemon.downloads)/sent"
            try FileTree.write("of a file", to: file)
            let requests: [(method: String, content: JSONValue, sent: String)] = [
                ("POST", ["raw": "raw text"], "raw text"), ("PUT", ["file": .string(file)], "of a file"),
                ("POST", ["json": ["a": 1]], "{\"a\":1}"), ("POST", ["form": ["a": "b"]], "a=b"),
            ]
            for (number, (method, content, expected)) in requests.enumerated() {
                let id = try await daemon.add(
                    server.url("/x"),
                    ["method": .string(method), "body": content, "output": .string("answer\(number)")])
                try await daemon.complete(id)
                #expect(server.requests.last?.body == Array(expected.utf8), "\(method) \(content)")
                #expect(try FileTree.text("\(daemon.downloads)/answer\(number)") == expected)
            }
        }
    }

    @Test func requestsOfWebDAVFormsInOtherCharsetsAndJSONInUTF16AreExchanged() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            let text = "\u{feff}{\"method\":\"\(request.method)\",\"sign\":\"€\"}"
            let body = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            let length = HeaderField(name: "Content-Length", value: "\(body.count)")
            return Reply(207, headers: Self.json + [length], body: [.bytes(body)])
        }
        try await withDaemon { daemon in
            let properties: JSONObject = [
                "parse": ["json"], "body": ["raw": "<propfind/>"], "headers": ["Depth": "0"],
            ]
            let found = try await add("PROPFIND", server.url("/dav"), to: daemon, properties)
            try await daemon.complete(found)
            #expect(try await result(found, daemon)["object"] == ["method": "PROPFIND", "sign": "€"])
            let made = try await add("MKCOL", server.url("/new"), to: daemon)
            try await daemon.complete(made)
            let form: JSONObject = ["body": ["form": ["q": "é€"], "charset": "windows-1252"]]
            let posted = try await add("POST", server.url("/form"), to: daemon, form)
            try await daemon.complete(posted)
            #expect(server.requests.map(\.method) == ["PROPFIND", "MKCOL", "POST"])
            #expect(server.requests[0].body == Array("<propfind/>".utf8))
            #expect(server.requests[1].header("Content-Length") == nil && server.requests[1].body == [])
            // Windows-1252 has 0xE9 and 0x80 for them.
            #expect(server.requests[2].body == Array("q=%E9%80".utf8))
            #expect(
                server.requests[2].header("Content-Type")
                    == "application/x-www-form-urlencoded; charset=windows-1252")
            let unwritable: JSONObject = ["body": ["form": ["q": "я"], "charset": "iso-8859-1"]]
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await add("POST", server.url("/form"), to: daemon, unwritable)
            }
            #expect(refusal?.path == "body.form")
        }
    }

    @Test func aLargeResponseIsReturnedByteForByteByTheSameTask() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(11, length: (5 << 20) + 3)
        server.serve("/big", version)
        try await withDaemon { daemon in
            let id = try await add("GET", server.url("/big"), to: daemon)
            try await daemon.complete(id)
            let file = daemon.directory.file("answer")
            let written = try await daemon.ctl("result", "\(id)", "-o", file)
            #expect(written.exit == .code(0), "\(written)")
            #expect(try version.equals(file: file))
            let spool = daemon.stateDirectory + "/spool"
            #expect(try FileTree.entries(below: spool).count == 1)
            #expect(try daemon.downloaded == [])
            // If another program removed a result's file, the daemon answers with an error.
            let second = try await add("GET", server.url("/big"), to: daemon)
            try await daemon.complete(second)
            _ = try await daemon.call("task.remove", ["ids": [.integer(id)]])
            try await eventually("the removed task's file is gone") { try FileTree.entries(below: spool).count == 1 }
            for name in try FileTree.entries(below: spool) { FileTree.remove("\(spool)/\(name)") }
            await #expect(throws: (any Error).self) { try await result(second, daemon) }
        }
    }

    @Test func aRemovedSpoolDirectoryIsMadeAgainOrReported() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(12, length: (5 << 20) + 3)
        server.serve("/big", version)
        try await withDaemon { daemon in
            let spool = daemon.stateDirectory + "/spool"
            FileTree.remove(spool)
            let id = try await add("GET", server.url("/big"), to: daemon)
            try await daemon.complete(id)
            #expect(try FileTree.entries(below: spool).count == 1)
            #expect(FileTree.mode(spool) == 0o700)
            // A file in its place: the directory cannot be made.
            FileTree.remove(spool)
            try FileTree.write("", to: spool)
            let status = try await daemon.call("daemon.status")
            #expect(status["degraded"] == true)
            #expect(status["degraded_reason"]?.stringValue?.contains(spool) == true, "\(status.text)")
            FileTree.remove(spool)
            let healed = try await daemon.call("daemon.status")
            #expect(healed["degraded"] == false, "\(healed.text)")
            let second = try await add("GET", server.url("/big"), to: daemon)
            try await daemon.complete(second)
        }
    }

    @Test func aHundredPOSTsArriveOnceEach() async throws {
        let server = try await FaultServer()
        server.on("/hook") { request in Reply(200, text: String(decoding: request.body, as: UTF8.self)) }
        try await withDaemon { daemon in
            let tasks = (0..<100).map { index -> JSONValue in
                [
                    "url": .string(server.url("/hook")), "kind": "data", "method": "POST",
                    "body": ["json": ["n": .integer(Int64(index))]],
                ]
            }
            let added = try await daemon.call("task.add", ["tasks": .array(tasks)])
            let ids = (added["ids"]?.arrayValue ?? []).compactMap(\.integerValue)
            #expect(ids.count == 100)
            for (index, id) in ids.enumerated() {
                try await daemon.complete(id)
                #expect(try await result(id, daemon)["data"]?.stringValue == "{\"n\":\(index)}")
            }
            #expect(server.requests(to: "/hook").count == 100)
            #expect(Set(server.requests(to: "/hook").map(\.body)).count == 100)
        }
    }

    @Test func aPOSTCutByAKillIsSentAgainOnlyIfItMayBeRepeated() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in
            var reply = Reply(200, text: "late")
            reply.headGate = gate
            return reply
        }
        try await withDaemon { daemon in
            let plain = try await add("POST", server.url("/plain"), to: daemon, ["body": ["raw": "once"]])
            let keyed = try await add(
                "POST", server.url("/keyed"), to: daemon,
                ["body": ["raw": "twice"], "headers": ["Idempotency-Key": "\"k-17\""]])
            try await eventually("both arrived") { server.requests.count == 2 }
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            let failed = try await daemon.fails(plain, "outcome_unknown")
            #expect(failed.errorMessage.contains("Idempotency-Key"))
            try await daemon.complete(keyed)
            #expect(server.requests(to: "/plain").count == 1)
            let keys = server.requests(to: "/keyed").map { $0.header("Idempotency-Key") }
            #expect(keys == ["\"k-17\"", "\"k-17\""])
            let ends = try await daemon.eventTypes(of: plain).filter { $0 == "task.failed" }
            #expect(ends.count == 1)
            // The client may decide to send it again.
            _ = try await daemon.call("task.retry", ["ids": [.integer(plain)]])
            try await daemon.complete(plain)
            #expect(server.requests(to: "/plain").count == 2)
        }
    }

    @Test func aServerThatIsBusyGetsTheSameRequestAgain() async throws {
        let server = try await FaultServer()
        server.on("/hook") { request in
            request.index == 0 ? .failure(503, retryAfter: "0") : Reply(200, text: "ok")
        }
        try await withDaemon { daemon in
            let id = try await add(
                "POST", server.url("/hook"), to: daemon, ["body": ["raw": "x"], "retry_non_idempotent": true])
            try await daemon.complete(id)
            #expect(server.requests(to: "/hook").map(\.body) == [[120], [120]])
        }
    }

    @Test func aTaskWhoseURLExpiresMidwayWaitsForANewURL() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(23, length: 3 << 20)
        // A resumption may meet the refused try half way, and costs another one.
        server.serve(
            "/old", version, faults: [[.drop(after: 1 << 20)]] + Array(repeating: [.status(403)], count: 1000))
        server.serve("/new", version)
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/old?sig=a"), ["output": "file"])
            let session = try daemon.session()
            let waiting = try await eventually("it waits for a source") { () -> TaskView? in
                let view = try await daemon.view(id)
                if view.state == "waiting", view.waitReason == "retry" {
                    _ = try await session.call("task.resume", ["ids": [.integer(id)]])
                }
                return view.waitReason == "source_expired" ? view : nil
            }
            #expect(waiting.received > 0)
            let told = try await daemon.ctl("set-source", "\(id)", server.url("/new?sig=b"))
            #expect(told.exit == .code(0), "\(told)")
            let view = try await daemon.complete(id)
            try expectFile(view, is: version)
            #expect(server.requests(to: "/new").map { $0.header("Range") } == ["bytes=\(waiting.received)-"])
        }
    }

    @Test func plantedSecretsAppearInNoOutput() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(500, text: "no") }
        let secret = "pl4nted-s3cret"
        try await withDaemon { daemon in
            let url = server.url("/x?token=\(secret)").replacing("http://", with: "http://user:\(secret)@")
            let fields: JSONObject = [
                "headers": ["Authorization": .string("Bearer \(secret)"), "X-Api-Key": .string(secret)],
                "max_retries": 0,
            ]
            let data = try await add("GET", url, to: daemon, fields)
            let download = try await daemon.add(url, fields)
            for id in [data, download] { _ = try await daemon.finish(id) }
            let list = try await daemon.call("task.list", [:]).text
            #expect(list.contains("token=***"))
            let shown = try await daemon.task(data).text
            let events = try await daemon.events().map(\.text).joined()
            let pid = try #require(daemon.process).pid
            let ps = try FileTree.text("/proc/\(pid)/cmdline") + FileTree.text("/proc/\(pid)/environ")
            let table = try await daemon.ctl("list").output + (try await daemon.ctl("show", "\(data)").output)
            for (name, text) in [
                ("task.list", list), ("task.get", shown), ("events", events), ("ps", ps), ("xferctl", table),
                ("the log", daemon.log),
            ] {
                #expect(!text.contains(secret), "\(name)")
            }
        }
    }
}
