import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// tus uploads in parts that are sent at the same time (tus 1.0, Concatenation).
@Suite struct TusPartsTests {
    private static let length: Int64 = 5_000_000

    /// Uploads a source in three parts.
    private func run(
        _ faults: [(method: String, fault: UploadFault)], isKilled: Bool = false,
        _ change: (inout UploadServer.Behaviour) -> Void = { _ in },
        body: (DaemonFixture, UploadServer, UploadSource, Int64) async throws -> Void
    ) async throws {
        let source = try UploadSource(seed: 75, length: Self.length)
        try await withUploads(.tus, isKilled: isKilled, change) { daemon, server in
            for entry in faults { server.inject(entry.fault, on: entry.method) }
            let id = try await daemon.upload(source, to: server.url(), by: "tus", ["upload_parts": 3])
            try await body(daemon, server, source, id)
        }
    }

    @Test func aSourceIsSentInPartsThatTheServerJoins() async throws {
        try await run([]) { daemon, server, source, id in
            let view = try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods.first == "OPTIONS" && server.requests.first?.header("Tus-Resumable") == nil)
            let creations = server.requests.filter { $0.method == "POST" }
            #expect(creations.compactMap { $0.header("Upload-Length") }.sorted() == ["1666666", "1666667", "1666667"])
            #expect(creations.dropLast().allSatisfy { $0.header("Upload-Concat") == "partial" })
            #expect(creations.dropLast().allSatisfy { $0.header("Upload-Metadata") == nil })
            let last = try #require(server.requests.last)
            #expect(last.method == "POST" && last.header("Upload-Concat")?.hasPrefix("final;http://") == true)
            #expect(last.header("Content-Length") == "0")
            #expect(last.header("Upload-Metadata")?.hasPrefix("filename c291cmNlLmJpbg==") == true)
            #expect(server.receivedBytes == Self.length)
            #expect(view.json["progress"]?["sent"]?.integerValue == Self.length)
        }
    }

    @Test func theUploadContinuesAfterAPartBrokeOff() async throws {
        // The others are stopped, and the server may notice that later than the next request comes.
        let faults: [(String, UploadFault)] = [("PATCH", .drop(after: 500_000)), ("PATCH", .loseAnswer)]
        try await run(faults, isKilled: true) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods.contains("HEAD"))
            #expect(server.methods.filter { $0 == "OPTIONS" }.count == 1)
        }
    }

    @Test func partsSurviveAKilledDaemon() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1, gate))], isKilled: true) { daemon, server, source, id in
            await gate.arrived()
            await daemon.kill9()
            try await daemon.start()
            gate.open()
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods.filter { $0 == "OPTIONS" }.count == 1)
        }
    }

    @Test func aServerThatDoesNotJoinPartsGetsOneUpload() async throws {
        try await run([], { $0.joinsParts = false }) { daemon, server, source, id in
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.methods == ["OPTIONS", "POST", "PATCH"])
            let warnings = try await daemon.events(of: id, types: "task.warning")
            #expect(warnings.first?["warning"]?.stringValue?.contains("concatenation") == true, "\(warnings)")
        }
    }

    @Test func cancellingDeletesAllParts() async throws {
        let gate = Gate()
        try await run([("PATCH", .hold(after: 1, gate))]) { daemon, server, _, id in
            await gate.arrived()
            try await eventually("all parts are sent") { server.methods.filter { $0 == "PATCH" }.count == 3 }
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            gate.open()
            try await eventually("the parts are deleted", within: Patience.long) { server.uploads.isEmpty }
            #expect(server.methods.filter { $0 == "DELETE" }.count == 3)
        }
    }
}
