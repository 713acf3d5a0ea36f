import StrictJSON
import Testing
import XferTestSupport

/// Tasks of every kind, made paused as an NSURLSession makes its own.
@Suite struct PausedTaskTests {
    @Test func aTaskAddedPausedSendsNothingBeforeItIsResumed() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in Reply(200, text: String(decoding: request.body, as: UTF8.self)) }
        let source = SourceVersion.tagged(130, length: 70_000)
        server.serve("/download", source)
        let file = try UploadSource(seed: 131, length: 50_000)
        try await withDaemon { daemon in
            let tasks: [(path: String, fields: JSONObject)] = [
                ("/download", ["kind": "download"]),
                ("/data", ["kind": "data", "method": "PATCH", "body": ["json": ["a": 1]]]),
                ("/file", ["kind": "upload", "source": .string(file.path)]),
                ("/inline", ["kind": "upload", "method": "PUT", "body": ["raw": "words"]]),
                ("/parts", ["kind": "upload", "parts": [["name": "n", "data": "words"]]]),
            ]
            var ids: [Int64] = []
            for (path, var fields) in tasks {
                fields["paused"] = true
                ids.append(try await daemon.add(server.url(path), fields))
            }
            // Another task comes and goes, and the service restarts: both make the scheduler read the queue.
            try await daemon.complete(try await daemon.add(server.url("/other"), ["kind": "data"]))
            try await daemon.stop()
            try await daemon.start()
            try await daemon.complete(try await daemon.add(server.url("/other"), ["kind": "data"]))
            #expect(server.requests.map(\.path) == ["/other", "/other"])
            for id in ids { #expect(try await daemon.view(id).state == "paused") }

            _ = try await daemon.call("task.resume", ["ids": .array(ids.map(JSONValue.integer))])
            for id in ids { try await daemon.complete(id) }
            try expectFile(try await daemon.view(ids[0]), is: source)
            #expect(server.requests(to: "/data").map(\.body) == [Array("{\"a\":1}".utf8)])
            #expect(server.requests(to: "/file").map(\.body) == [file.version.bytes])
            #expect(server.requests(to: "/inline").map(\.body) == [Array("words".utf8)])
            let form = try #require(server.requests(to: "/parts").first)
            #expect(form.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(server.requests.count == 2 + tasks.count)
        }
    }

    /// AFNetworking #2702, #1477, #2638: a call that changes nothing emits no event.
    @Test func pausingATaskTwiceEmitsOnePause() async throws {
        let gate = Gate()
        let server = try await FaultServer()
        server.serve("/f", .tagged(132, length: 100_000)).always(.stall(at: 50_000, until: gate))
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.waitForBytes(50_000, of: id)
            for verb in ["task.pause", "task.resume"] {
                let first = try await daemon.call(verb, ["ids": [.integer(id)]])
                let second = try await daemon.call(verb, ["ids": [.integer(id)]])
                #expect(first["changed"] == [.integer(id)], "\(first.text)")
                // Queued again, it may be running already.
                #expect(second["changed"] == [], "\(second.text)")
            }
            gate.open()
            try await daemon.complete(id)
            #expect(try await daemon.events(of: id, types: "task.paused").count == 1)
            #expect(try await daemon.events(of: id, types: "task.resumed").count == 1)
        }
    }
}
