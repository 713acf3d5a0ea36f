import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Rules 4, 6, 7 and 8 of resuming: which answers are trusted. Whatever a server says, the file is one version.
@Suite struct RangeAnswerTests {
    private static let length: Int64 = 300_000
    private static let cut: Int64 = 100_000
    private let source = SourceVersion(
        seed: 20, length: length, etag: "\"v20\"", lastModified: HTTPDate.text(1_700_000_000))
    private let other = SourceVersion(
        seed: 21, length: length, etag: "\"v21\"", lastModified: HTTPDate.text(1_700_003_600))

    static let lies: [Fault] = [
        .contentRange(nil), .contentRange("bytes"), .contentRange("bytes 100000-299999"),
        .contentRange("octets 100000-299999/300000"), .contentRange("bytes 299999-100000/300000"),
        .contentRange("bytes 100000-300000/300000"), .contentRange("bytes 0-99999/300000"),
        .contentRangeTotal(300_001), .contentRangeTotal(299_999), .startShifted(by: 1), .startShifted(by: 5000),
        .startShifted(by: -1), .startShifted(by: -100_000), .multipart, .header("ETag", "\"other\""), .weakETag,
        .header("ETag", nil), .header("Last-Modified", HTTPDate.text(1_700_000_001)), .gzip, .chunked,
        .contentLength(off: -7), .contentLength(off: 7), .unsatisfiable(nil), .unsatisfiable("bytes */100000"),
        .unsatisfiable("bytes */300000"), .unsatisfiable("bytes */*"), .garbageHead, .noAnswer(.close),
        .noAnswer(.reset), .ignoreRange, .refuseIfRange, .status(500), .status(503, retryAfter: "0"), .unaskedRange,
    ]

    @Test(arguments: lies) func aLieInARangeResponseDoesNotReachTheFile(_ lie: Fault) async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.drop(after: Self.cut)], [lie]])
        try await withTask(server.url("/f")) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
            #expect(try await daemon.eventTypes(of: id).filter { $0 == "task.completed" }.count == 1)
        }
    }

    @Test(arguments: lies) func aLieAboutAChangedSourceDoesNotReachTheFile(_ lie: Fault) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let served = server.serve("/f", source, faults: [[.stall(at: Self.cut, until: gate), .drop(after: Self.cut)]])
        try await withTask(server.url("/f")) { daemon, id in
            await gate.arrived()
            served.replace(with: other)
            served.next([.ignoreIfRange, lie])
            gate.open()
            try expectFile(try await daemon.complete(id), is: other)
        }
    }

    /// Serves `source` until `cut`, then `next`, and gives the completed task.
    private func change(
        to next: SourceVersion, faults: [Fault] = [], _ fields: JSONObject = [:],
        body: (DaemonFixture, Int64, FaultServer) async throws -> Void
    ) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let served = server.serve("/f", source, faults: [[.stall(at: Self.cut, until: gate), .drop(after: Self.cut)]])
        try await withTask(server.url("/f"), fields) { daemon, id in
            await gate.arrived()
            served.replace(with: next)
            served.next(faults)
            gate.open()
            try await body(daemon, id, server)
        }
    }

    @Test func aChangedSourceIsFetchedAgainAndReported() async throws {
        try await change(to: other) { daemon, id, server in
            try expectFile(try await daemon.complete(id), is: other)
            let changes = try await daemon.events(of: id, types: "task.source_changed")
            #expect(changes.count == 1)
            #expect(changes.first?["dropped"]?.integerValue == Self.cut)
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
        }
    }

    @Test func a206OfTheNewVersionIsDetected() async throws {
        try await change(to: other, faults: [.ignoreIfRange]) { daemon, id, _ in
            try expectFile(try await daemon.complete(id), is: other)
        }
    }

    @Test func a206WithoutATagOfAServerThatIgnoresIfRangeStartsOverUnlessADigestIsKnown() async throws {
        let server = try await FaultServer()
        let bare: [Fault] = [.ignoreIfRange, .header("ETag", nil), .header("Last-Modified", nil)]
        server.serve("/f", source, faults: [[.drop(after: Self.cut)], bare, bare])
        try await withTask(server.url("/f")) { daemon, id in try expectFile(try await daemon.complete(id), is: source) }
        #expect(server.requests.last?.header("Range") == nil)

        let trusting = try await FaultServer()
        trusting.serve(
            "/f", source, faults: [[.drop(after: Self.cut)], [.header("ETag", nil), .header("Last-Modified", nil)]])
        let checksum = JSONValue.string(source.checksum().description)
        try await withTask(trusting.url("/f"), ["checksum": checksum]) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
        }
        #expect(trusting.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
    }

    @Test func aChangedSourceAsLongAsTheOffsetIsNotTakenForComplete() async throws {
        let short = SourceVersion.tagged(22, length: Self.cut)
        try await change(to: short) { daemon, id, _ in try expectFile(try await daemon.complete(id), is: short) }
    }

    @Test func aSourceThatShrankBelowTheOffsetIsFetchedAgain() async throws {
        let short = SourceVersion.tagged(23, length: 5000)
        try await change(to: short) { daemon, id, _ in try expectFile(try await daemon.complete(id), is: short) }
    }

    @Test func aSourceThatShrankWithoutALengthIsFetchedAgain() async throws {
        let short = SourceVersion.tagged(24, length: 5000)
        try await change(to: short, faults: [.chunked]) { daemon, id, _ in
            try expectFile(try await daemon.complete(id), is: short)
        }
    }

    @Test func a200OfTheSameVersionAfterARangeKeepsTheBytes() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.drop(after: Self.cut)], [.ignoreRange]])
        try await withTask(server.url("/f")) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
            #expect(try await daemon.events(of: id, types: "task.source_changed") == [])
        }
    }

    @Test func a416IsNotTakenForCompletion() async throws {
        // The head says 1,000 bytes more than there are: all bytes are held, the length does not agree.
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.contentLength(off: 1000)]])
        try await withTask(server.url("/f")) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
        }
        #expect(server.requests.count > 1)
    }

    @Test func aCodedBodyIsKeptVerbatimAndNeverContinued() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.gzip, .drop(after: 50_000)], [.gzip]])
        try await withTask(server.url("/f")) { daemon, id in
            let view = try await daemon.complete(id)
            #expect(view.json["content_encoding"]?.stringValue == "gzip")
            let path = try #require(view.finalPath)
            #expect(try FileTree.read(path).starts(with: [0x1f, 0x8b]))
            #expect(try #require(FileTree.size(path)) > Self.length)
        }
        #expect(server.requests.map { $0.header("Range") } == [nil, nil])
    }
}
