import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// "Uploads" of the resumption rules: tus 1.0, each rule against a server that puts it to the test.
@Suite struct TusTests {
    private static let length: Int64 = 3_000_000

    private func run(
        _ faults: [(method: String, fault: UploadFault)], _ change: (inout UploadServer.Behaviour) -> Void = { _ in },
        length: Int64 = length, body: (DaemonFixture, UploadServer, UploadSource, Int64) async throws -> Void
    ) async throws {
        let source = try UploadSource(seed: 70, length: length)
        try await withUploads(.tus, change) { daemon, server in
            for entry in faults { server.inject(entry.fault, on: entry.method) }
            let id = try await daemon.upload(source, to: server.url(), by: "tus")
            try await body(daemon, server, source, id)
        }
    }

    @Test func anUploadIsCreatedAndAppendedTo() async throws {
        try await run([]) { daemon, server, source, id in
            let view = try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH"])
            #expect(server.requests.allSatisfy { $0.header("Tus-Resumable") == "1.0.0" })
            #expect(server.requests[0].header("Upload-Length") == "\(Self.length)")
            #expect(server.requests[0].header("Upload-Metadata")?.hasPrefix("filename c291cmNlLmJpbg==") == true)
            #expect(view.json["progress"]?["sent"]?.integerValue == Self.length)
            #expect(server.receivedBytes == Self.length)
        }
    }

    @Test func chunksKeepEachRequestSmallAndARefusedCreationIsRepeatedWithoutContent() async throws {
        let source = try UploadSource(seed: 71, length: 1_000_000)
        try await withUploads(.tus, { $0.largestAppend = 400_000 }) { daemon, server in
            // The server does not know creation-with-upload, and answers 400.
            let id = try await daemon.upload(
                source, to: server.url(), by: "tus", ["chunk_size": 400_000, "creation_with_upload": true])
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "POST", "PATCH", "PATCH", "PATCH"])
        }
    }

    @Test func aBrokenUploadContinuesAtTheServersOffset() async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("PATCH", .loseAnswer)]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH", "HEAD"])
            #expect(server.requests[3].header("Upload-Offset") == "1000000")
            #expect(server.receivedBytes == Self.length)
        }
    }

    @Test func theUploadURLIsCommittedBeforeTheFirstByteIsSent() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1, gate))]) { daemon, server, source, id in
            await gate.arrived()
            await daemon.kill9()
            try await daemon.start()
            gate.open()
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.creationCount == 1)
            #expect(server.methods.filter { $0 == "POST" }.count == 1)
        }
    }

    @Test func aConflictIsFollowedByAnOffsetRequest() async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("PATCH", .answer(409))]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
        }
    }

    @Test(arguments: [404, 410]) func aForgottenUploadIsCreatedAgain(status: Int) async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("HEAD", .forget(status))]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "HEAD", "POST", "PATCH"])
            #expect(server.creationCount == 2)
        }
    }

    @Test func sentBytesThatTheServerHasLostAreAnEvent() async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("PATCH", .forget(404))]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH", "POST", "PATCH"])
            let discarded = try await daemon.events(of: id, types: "task.bytes_discarded")
            #expect(discarded.count == 1 && discarded.first?["dropped"]?.integerValue ?? 0 > 0, "\(discarded)")
        }
    }

    @Test func aLockedUploadBacksOff() async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("PATCH", .answer(423))]) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            let waits = try await daemon.events(of: id, types: "task.waiting")
            // One wait for the break, one for the lock; the word for it may be lost to the reset right behind it.
            #expect(waits.contains { $0["error"]?["http_status"] == 423 } || waits.count > 1, "\(waits)")
        }
    }

    @Test func aFailedUploadContinuesWhenItIsRetried() async throws {
        try await run([("PATCH", .drop(after: 1_000_000)), ("PATCH", .answer(403))]) { daemon, server, source, id in
            try await daemon.fails(id, "http_status")
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
            #expect(server.receivedBytes == Self.length)
        }
    }

    @Test func secretsAreSentOnlyToTheirOrigin() async throws {
        let source = try UploadSource(seed: 73, length: 10_000)
        let (home, elsewhere) = (try await FaultServer(), try await FaultServer())
        home.on("/files") { _ in
            Reply(201, headers: [HeaderField(name: "Location", value: elsewhere.url("/u"))], text: "")
        }
        elsewhere.on("/u") { request in
            Reply(204, headers: [HeaderField(name: "Upload-Offset", value: String(request.body.count))])
        }
        try await withDaemon { daemon in
            let fields: JSONObject = [
                "headers": ["Authorization": "Bearer hush", "X-Trace": "7"]
            ]
            try await daemon.complete(try await daemon.upload(source, to: home.url("/files"), by: "tus", fields))
            #expect(home.requests.first?.header("Authorization") == "Bearer hush")
            let append = try #require(elsewhere.requests.first)
            #expect(append.method == "PATCH")
            #expect(append.header("Authorization") == nil)
            #expect(append.header("X-Trace") == "7")
            #expect(source.version.bytes == append.body)
        }
    }

    @Test func anEmptyFileIsCompleteAtCreation() async throws {
        try await run([], length: 0) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST"])
        }
    }

    @Test func anExpiredUploadIsCreatedAgainWithoutAnOffsetRequest() async throws {
        try await run([("PATCH", .drop(after: 1_000_000))], { $0.lifetime = -10 }) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["POST", "PATCH", "POST", "PATCH"])
        }
    }

    @Test func aPartThatIsTooLargeIsHalved() async throws {
        try await run([], { $0.largestAppend = 1_000_000 }) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.requests.contains { $0.status == 413 })
        }
    }

    @Test(arguments: [nil, "-1", "3000001", "999999", "1e6"] as [String?])
    func invalidOffsetsAreRejected(offset: String?) async throws {
        let faults: [(String, UploadFault)] = [
            ("PATCH", .drop(after: 1_000_000)), ("PATCH", .drop(after: 1_000_000)), ("HEAD", .silence),
            ("HEAD", .misstate(offset: offset)),
        ]
        try await run(faults) { daemon, server, source, id in
            try await daemon.fails(id, "upload_rejected")
            #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH", "HEAD"])
        }
    }

    @Test func aCreationResponseWithoutALocationIsRejected() async throws {
        try await run([("POST", .omitLocation)]) { daemon, server, _, id in
            try await daemon.fails(id, "upload_rejected")
            #expect(server.methods == ["POST"])
        }
    }

    @Test func cancellingDeletesTheUploadOnTheServer() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1, gate))]) { daemon, server, _, id in
            await gate.arrived()
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            gate.open()
            try await eventually("the upload is deleted") { server.uploads.isEmpty }
            #expect(server.methods == ["POST", "PATCH", "DELETE"])
            #expect(server.requests[2].header("Tus-Resumable") == "1.0.0")
        }
    }

    /// The wish outlives the daemon, twice, and the task's row.
    @Test func aCancelledUploadIsDeletedWhenItsServerIsBack() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1, gate))]) { daemon, server, _, id in
            await gate.arrived()
            try await server.stop()
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            try await daemon.wait(id, for: "cancelled")
            _ = try await daemon.call("task.remove", ["ids": [.integer(id)]])
            await daemon.kill9()
            #expect(server.uploads.count == 1)
            #expect(server.methods == ["POST", "PATCH"])
            try await server.resume()
            try await daemon.start()
            try await eventually("the upload is deleted", within: Patience.long) { server.uploads.isEmpty }
            #expect(server.methods == ["POST", "PATCH", "DELETE"])
        }
    }

    /// By a daemon that keeps running.
    @Test func aCancelledUploadIsDeletedAfterABusyServerRecovers() async throws {
        let gate = Gate()
        let faults: [(String, UploadFault)] = [
            ("PATCH", .hold(after: 1, gate)), ("DELETE", .answer(503)), ("DELETE", .answer(423)),
        ]
        try await run(faults) { daemon, server, _, id in
            await gate.arrived()
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "cancelled")
            gate.open()
            try await eventually("the upload is deleted", within: Patience.long) { server.uploads.isEmpty }
            #expect(server.methods == ["POST", "PATCH", "DELETE", "DELETE", "DELETE"])
        }
    }

    @Test func aPausedUploadKeepsItsURLAndContinues() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1_000_000, gate))]) { daemon, server, source, id in
            await gate.arrived()
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            gate.open()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.creationCount == 1)
        }
    }

    @Test(.enabled(if: TusPyServer.isInstalled, "needs tuspyserver")) func tuspyserverAcceptsUploads() async throws {
        let server = try await TusPyServer()
        let source = try UploadSource(seed: 71, length: 5_000_000)
        let empty = try UploadSource(seed: 72, length: 0)
        try await withDaemon { daemon in
            try await daemon.complete(try await daemon.upload(source, to: server.url, by: "tus"))
            #expect(try server.uploads.count == 1)
            #expect(try source.version.equals(file: try #require(try server.uploads.first)))
            try await daemon.complete(try await daemon.upload(empty, to: server.url, by: "tus"))
            #expect(try server.uploads.count == 2)
        }
    }
}
