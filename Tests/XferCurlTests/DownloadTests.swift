import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

@Suite struct DownloadTests {
    @Test func aFileArrivesWhole() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 3_000_000)
        server.serve("/file", version)
        let part = try PartFile()
        let record = try await Harness().run(.get(server.url("/file"), into: part))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.offset == version.length)
        #expect(record.outcome.total == version.length)
        #expect(record.outcome.resumeData.validators.etag == version.etag)
        #expect(record.outcome.head?.status == 200)
        #expect(try part.bytes == version.bytes)
    }

    @Test func aSmallFileAsksForNoCheckpoint() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(2, length: 10_000))
        let part = try PartFile()
        let record = try await Harness().run(.get(server.url("/file"), into: part))
        #expect(record.events.count == 2)
    }

    @Test func anEmptyBodyIsComplete() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(3, length: 0))
        let part = try PartFile()
        let record = try await Harness().run(.get(server.url("/file"), into: part))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.total == 0)
    }

    @Test func aBodyOfUnknownLengthIsComplete() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(4, length: 200_000)
        server.serve("/file", version, faults: [[.chunked], [.untilClose]])
        for _ in 0..<2 {
            let part = try PartFile()
            let record = try await Harness().run(.get(server.url("/file"), into: part))
            #expect(record.outcome.result == .complete)
            #expect(record.outcome.total == nil)
            #expect(try part.bytes == version.bytes)
        }
    }

    @Test func aBodyIsHeldInMemoryUpToTheLimit() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(5, length: 5000)
        server.serve("/file", version, faults: [[], [], [.chunked]])
        let harness = try Harness()
        let whole = try await harness.run(.get(server.url("/file"), sink: .memory(limit: 5000)))
        #expect(whole.outcome.body == version.bytes)
        for _ in 0..<2 {
            let tooLarge = try await harness.run(.get(server.url("/file"), sink: .memory(limit: 4999)))
            #expect(tooLarge.error?.reason == .lengthMismatch)
        }
    }

    @Test func tenRequestsInARowUseOneConnection() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(6, length: 30_000))
        let harness = try Harness()
        for _ in 0..<10 {
            let record = try await harness.run(.get(server.url("/file")))
            #expect(record.outcome.result == .complete)
        }
        #expect(server.requests.count == 10)
        #expect(server.connectionCount == 1)
    }

    @Test func anotherSessionGetsAnotherConnection() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(7, length: 100))
        let harness = try Harness()
        for version in [1, 1, 2] as [Int64] {
            var attempt = try Attempt.get(server.url("/file"))
            attempt.session = { _ in SessionSpec(key: SessionKey(trustVersions: [version])) }
            _ = try await harness.run(attempt)
        }
        #expect(server.requests.map(\.connection) == [1, 1, 2])
    }

    @Test func aRetiredSessionIsNotUsedAgain() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(8, length: 100))
        let harness = try Harness()
        _ = try await harness.run(.get(server.url("/file")))
        await harness.engine.retireSessions { _ in true }
        _ = try await harness.run(.get(server.url("/file")))
        #expect(server.requests.map(\.connection) == [1, 2])
        try await eventually("the retired connection is closed") { server.openConnectionCount == 1 }
    }

    @Test func aRequestSendsItsOwnFieldsAndTheDefaults() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(9, length: 100))
        let attempt = try Attempt.get(server.url("/file")) { attempt in
            attempt.request.headers = [HeaderField(name: "X-One", value: "1"), HeaderField(name: "X-Empty", value: "")]
            attempt.credential = .basic("me", "se:cret", for: attempt.request.url)
        }
        _ = try await Harness().run(attempt)
        let request = try #require(server.requests.first)
        #expect(request.header("User-Agent") == "xferd/test")
        #expect(request.header("Accept-Encoding") == "identity")
        #expect(request.header("X-One") == "1")
        #expect(request.header("X-Empty") == "")
        #expect(request.header("Authorization") == "Basic " + Base64.encode("me:se:cret".utf8))
        #expect(request.header("Range") == nil)
    }

    @Test func aHeaderWithALineBreakIsRefused() async throws {
        let server = try await FaultServer()
        let attempt = try Attempt.get(server.url("/file")) { attempt in
            attempt.request.headers = [HeaderField(name: "X-One", value: "1\r\nX-Two: 2")]
        }
        let record = try await Harness().run(attempt)
        #expect(record.error?.reason == .internalError)
        #expect(server.requests.isEmpty)
    }

    @Test func progressIsCountedWhileATransferRuns() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/file", .tagged(10, length: 100_000), faults: [[.stall(at: 60_000, until: gate)]])
        let harness = try Harness()
        let part = try PartFile()
        let handle = await harness.engine.start(try .get(server.url("/file"), into: part))
        try await eventually("60,000 bytes are written") { handle.progress.snapshot.offset == 60_000 }
        #expect(handle.progress.snapshot.isTransferring)
        #expect(handle.progress.snapshot.total == 100_000)
        gate.open()
        _ = try await harness.follow(handle)
        #expect(handle.progress.snapshot.received == 100_000)
    }

    @Test func manyConcurrentDownloadsAllArrive() async throws {
        let server = try await FaultServer()
        let harness = try Harness()
        for index in 0..<100 { server.serve("/\(index)", .tagged(UInt64(index), length: Int64(index) * 997)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let record = try await harness.run(.get(server.url("/\(index)")))
                    #expect(
                        record.outcome.body == SourceVersion.tagged(UInt64(index), length: Int64(index) * 997).bytes)
                }
            }
            try await group.waitForAll()
        }
    }
}
