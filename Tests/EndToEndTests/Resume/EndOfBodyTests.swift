import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Rules 9 and 11 of resuming: when a body is whole, and what libcurl would have let through.
@Suite struct EndOfBodyTests {
    private let source = SourceVersion.tagged(30, length: 200_000)

    private func serve(_ faults: [[Fault]], _ source: SourceVersion? = nil) async throws -> FaultServer {
        let server = try await FaultServer()
        server.serve("/f", source ?? self.source, faults: faults)
        return server
    }

    @Test func aShortBodyIsContinued() async throws {
        let server = try await serve([[.drop(after: 199_999, by: .close)]])
        try await withTask(server.url("/f")) { daemon, id in try expectFile(try await daemon.complete(id), is: source) }
        #expect(server.requests.last?.header("Range") == "bytes=199999-")
    }

    @Test func aChunkedBodyWithoutALengthIsComplete() async throws {
        let server = try await serve([[.chunked]])
        try await withTask(server.url("/f")) { daemon, id in try expectFile(try await daemon.complete(id), is: source) }
        #expect(server.requests.count == 1)
    }

    @Test func aMissingLastChunkIsNotTheEndOfABody() async throws {
        let server = try await serve([[.chunked, .drop(after: 70_000, by: .close)]])
        try await withTask(server.url("/f")) { daemon, id in try expectFile(try await daemon.complete(id), is: source) }
        #expect(server.requests.count == 2)
    }

    @Test func anEmptyBodyMakesAnEmptyFile() async throws {
        let empty = SourceVersion.tagged(31, length: 0)
        let server = try await serve([], empty)
        try await withTask(server.url("/f")) { daemon, id in try expectFile(try await daemon.complete(id), is: empty) }
    }

    @Test(arguments: Checksum.Algorithm.allCases) func aWrongChecksumFailsTheDownload(_ algorithm: Checksum.Algorithm)
        async throws
    {
        let server = try await serve([])
        try await withDaemon { daemon in
            let right = source.checksum(algorithm)
            let good = try await daemon.add(
                server.url("/f"), ["checksum": .string(right.description), "output": "good"])
            try expectFile(try await daemon.complete(good), is: source)
            let wrong = Digest.of([1, 2, 3], algorithm)
            let bad = try await daemon.add(server.url("/f"), ["checksum": .string(wrong.description), "output": "bad"])
            let view = try await daemon.fails(bad, "checksum_mismatch")
            #expect(view.errorMessage.contains(wrong.hexDigits) && view.errorMessage.contains(right.hexDigits))
            try await daemon.expectDownloads(["good"])
        }
    }

    @Test(arguments: [Checksum.Algorithm.sha256, .sha512, .sha1, .md5])
    func aDigestAnnouncedByTheServerIsChecked(_ algorithm: Checksum.Algorithm) async throws {
        let server = try await serve([[.digests([algorithm])], [.digests([algorithm], truthful: false)]])
        try await withDaemon { daemon in
            try expectFile(
                try await daemon.complete(try await daemon.add(server.url("/f"), ["output": "a"])), is: source)
            try await daemon.fails(try await daemon.add(server.url("/f"), ["output": "b"]), "checksum_mismatch")
            try await daemon.expectDownloads(["a"])
        }
    }

    @Test func anotherVersionUnderAMatchingHeadIsFetchedOnceMorePastCaches() async throws {
        let server = try await serve([[.drop(after: 90_000)], [.bytes(of: .tagged(32, length: 200_000))]])
        let checksum = JSONValue.string(source.checksum().description)
        try await withTask(server.url("/f"), ["checksum": checksum]) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
        }
        #expect(server.requests.map { $0.header("Cache-Control") } == [nil, nil, "no-cache"])
    }

    @Test(arguments: ["Wed, 21 Oct 2015 07:28:00 GMT", "-5", "99999999999999", "soon"])
    func anOutOfRangeRetryAfterIsClamped(_ value: String) async throws {
        let server = try await serve([[.status(503, retryAfter: value)]])
        try await withTask(server.url("/f")) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting", "completed"))
            if waiting.state == "waiting", let until = waiting.json["wait"]?["until"]?.stringValue {
                let end = try #require(Timestamp(rfc3339: until))
                let now = try #require(Timestamp(rfc3339: try await daemon.eventTime(of: id, "task.waiting")))
                #expect(now.duration(to: end) <= .seconds(3601))
            }
            try expectFile(try await daemon.complete(id), is: source)
        }
    }

    @Test func aSilentServerEndsInTheIdleTimeout() async throws {
        let gate = Gate()
        let server = try await serve([[.stall(at: 100_000, until: gate)]])
        try await withTask(server.url("/f"), ["idle_timeout": 1]) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
            let waits = try await daemon.events(of: id, types: "task.waiting")
            #expect(waits.first?["error"]?["reason"]?.stringValue == "idle_timeout")
            #expect(server.requests.last?.header("Range") == "bytes=100000-")
        }
        gate.open()
    }

    @Test func aSlowButSteadyBodyDoesNotTimeOut() async throws {
        let small = SourceVersion.tagged(33, length: 2000)
        // Twice the idle timeout in all, a twentieth of it at a time.
        let server = try await serve([[.drip(50, every: .milliseconds(50 * Patience.factor))]], small)
        try await withTask(server.url("/f"), ["idle_timeout": .integer(Int64(Patience.factor))]) { daemon, id in
            try expectFile(try await daemon.complete(id), is: small)
        }
        #expect(server.requests.count == 1)
    }
}

extension DaemonFixture {
    fileprivate func eventTime(of id: Int64, _ type: String) async throws -> String {
        try #require(try await events(of: id, types: type).last?["time"]?.stringValue)
    }
}
