import StrictJSON
import Testing
import XferTestSupport

/// "Uploads" of the resumption rules: the IETF draft, each rule against a server that puts it to the test.
@Suite struct ResumableUploadTests {
    private static let length: Int64 = 3_000_000

    private func run(
        _ faults: [(method: String, fault: UploadFault)], _ change: (inout UploadServer.Behaviour) -> Void = { _ in },
        _ fields: JSONObject = [:], length: Int64 = length, dialect: UploadServer.Dialect = .resumable,
        body: (DaemonFixture, UploadServer, UploadSource, Int64) async throws -> Void
    ) async throws {
        let source = try UploadSource(seed: 80, length: length)
        try await withUploads(dialect, change) { daemon, server in
            for entry in faults { server.inject(entry.fault, on: entry.method) }
            let id = try await daemon.upload(source, to: server.url(), by: "resumable", fields)
            try await body(daemon, server, source, id)
        }
    }

    @Test func aWholeUploadIsOneRequestWhoseAnswerIsKept() async throws {
        try await run([], { $0.finalBody = "{\"ok\":true}" }, ["parse": ["json"]]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST"])
            let request = server.requests[0]
            #expect(request.header("Upload-Complete") == "?1")
            #expect(request.header("Upload-Length") == "\(Self.length)")
            #expect(request.header("Upload-Draft-Interop-Version") == "8")
            let result = try await daemon.call("task.result", ["id": .integer(id)])
            #expect(result["object"]?["ok"] == true, "\(result.text)")
        }
    }

    @Test func theUploadURLIsCommittedWhileTheRequestIsInFlight() async throws {
        let gate = Gate()
        try await run([("POST", .hold(after: 1_000_000, gate))]) { daemon, server, source, id in
            await gate.arrived()
            // The 104 came before the content was read; the daemon has had all the time it needs when it shows progress.
            try await eventually("the daemon sends") {
                (try await daemon.task(id)["progress"]?["sent"]?.integerValue ?? 0) > 0
            }
            await daemon.kill9()
            try await daemon.start()
            gate.open()
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods.prefix(2) == ["POST", "HEAD"])
            #expect(server.creationCount == 1)
        }
    }

    @Test func aBrokenUploadContinuesAtTheServersOffset() async throws {
        try await run([("POST", .drop(after: 1_000_000)), ("PATCH", .drop(after: 500_000))]) {
            daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "HEAD", "PATCH", "HEAD", "PATCH"])
            #expect(server.requests[2].header("Upload-Offset") == "1000000")
            #expect(server.requests[2].header("Content-Type") == "application/partial-upload")
            #expect(server.requests[4].header("Upload-Offset") == "1500000")
            #expect(server.receivedBytes == Self.length)
        }
    }

    @Test func aLostFinalResponseIsRequestedAgain() async throws {
        try await run([("POST", .loseAnswer)], { $0.finalBody = "done" }) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "HEAD", "PATCH"])
            #expect(server.receivedBytes == Self.length)
        }
    }

    @Test(arguments: [400, 422, 503]) func aFinalFailureStatusFailsTheTask(status: Int) async throws {
        try await run([], { ($0.finalStatus, $0.finalBody) = (status, "no good") }) { daemon, server, _, id in
            let view = try await daemon.fails(id, "http_status")
            #expect(view.json["error"]?["http_status"]?.integerValue == Int64(status))
            #expect(server.methods == ["POST"])
            #expect(try await daemon.result(id).contains("no good"))
        }
    }

    @Test func aConflictResponseCorrectsTheOffset() async throws {
        let faults: [(String, UploadFault)] = [("POST", .drop(after: 1_000_000)), ("HEAD", .misstate(offset: "0"))]
        try await run(faults, { $0.progressInterval = 1 << 30 }) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "HEAD", "PATCH", "PATCH"])
            #expect(server.requests[2].status == 409)
            #expect(server.requests[3].header("Upload-Offset") == "1000000")
        }
    }

    @Test(arguments: [true, false]) func aRequestThatIsTooLargeIsSplitIntoParts(isAnnounced: Bool) async throws {
        try await run([], { ($0.largestAppend, $0.announcesLimit) = (1_000_000, isAnnounced) }) {
            daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.requests.filter { $0.method == "PATCH" && $0.status != 413 }.count >= 3)
            #expect(server.creationCount == 1)
        }
    }

    @Test func aRefusedAppendFailsTheTask() async throws {
        try await run([("POST", .drop(after: 1_000_000)), ("PATCH", .answer(403))]) { daemon, server, _, id in
            let view = try await daemon.fails(id, "http_status")
            #expect(view.json["error"]?["http_status"] == 403)
            #expect(server.methods == ["POST", "HEAD", "PATCH"])
        }
    }

    @Test func aServerErrorIsFollowedByAnOffsetRequest() async throws {
        try await run([("POST", .drop(after: 1_000_000)), ("PATCH", .answer(503))]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "HEAD", "PATCH", "HEAD", "PATCH"])
        }
    }

    @Test(arguments: ["99999999", "-5"]) func invalidProgressIsRejected(offset: String) async throws {
        try await run([("POST", .claim(offset: offset))]) { daemon, server, _, id in
            try await daemon.fails(id, "upload_rejected")
            #expect(server.methods.filter { $0 != "DELETE" } == ["POST"])
        }
    }

    @Test(arguments: [nil, "-1", "3000001", "1.5"] as [String?])
    func invalidOffsetsAreRejected(offset: String?) async throws {
        try await run([("POST", .drop(after: 1_000_000)), ("HEAD", .misstate(offset: offset))]) {
            daemon, server, _, id in
            try await daemon.fails(id, "upload_rejected")
            #expect(server.methods.filter { $0 != "DELETE" } == ["POST", "HEAD"])
        }
    }

    @Test func anEmptyFileIsUploadedInOneRequest() async throws {
        try await run([], length: 0) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST"])
        }
    }

    @Test func cancellingDeletesTheUploadOnTheServer() async throws {
        let gate = Gate()
        try await run([("POST", .drop(after: 1_000_000)), ("PATCH", .hold(after: 1, gate))]) { daemon, server, _, id in
            try await eventually("the upload goes on") {
                if try await daemon.task(id)["state"] == "waiting" {
                    _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
                }
                return server.methods.last == "PATCH"
            }
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            gate.open()
            try await eventually("the upload is deleted") { server.uploads.isEmpty }
            #expect(server.methods == ["POST", "HEAD", "PATCH", "DELETE"])
            #expect(server.requests[3].header("Upload-Draft-Interop-Version") == "8")
        }
    }

    // MARK: Servers that do not know the protocol

    @Test func aServerThatDoesNotKnowTheProtocolGetsAPlainUpload() async throws {
        try await run([], dialect: .plain) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST"])
        }
    }

    @Test func anIdempotentRequestWithoutAnUploadURLIsRepeated() async throws {
        try await run([("PUT", .drop(after: 1_000_000))], { _ in }, ["method": "PUT"], dialect: .plain) {
            daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["PUT", "PUT"])
        }
    }

    @Test(arguments: [UploadServer.Dialect.plain, .resumable])
    func aNonIdempotentRequestWithoutAnUploadURLIsNotRepeated(dialect: UploadServer.Dialect) async throws {
        let gate = Gate()
        // A server that does not say where keeps the client from knowing that it could go on.
        let faults: [(String, UploadFault)] = [("POST", .silence)]
        try await run(
            // Read so slowly that it is far from its end when the daemon is killed.
            dialect == .plain ? [("POST", .hold(after: 1, gate))] : faults, { $0.readRate = 1 << 16 }, dialect: dialect
        ) {
            daemon, server, _, id in
            try await eventually("bytes flow") { server.receivedBytes > 0 }
            // Held back it could not go on.
            let paused = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            #expect(paused["changed"]?.arrayValue == [], "\(paused.text)")
            await daemon.kill9()
            try await daemon.start()
            gate.open()
            try await daemon.fails(id, "outcome_unknown")
            #expect(server.methods == ["POST"])
        }
    }

    @Test func anUploadURLOfAnotherProtocolVersionIsIgnored() async throws {
        try await run([("PUT", .misversion("7")), ("PUT", .silence)], { _ in }, ["method": "PUT"]) {
            daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["PUT"])
        }
    }
}
