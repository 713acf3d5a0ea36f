import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Servers that do no ranges, or not always, that bear few connections, and that change what they serve: right bytes of
/// one version, or a clear failure, and no try spent while one connection still brings bytes.
@Suite struct UnwillingServerTests {
    private static let other = SourceVersion(
        seed: 71, length: SegmentFixture.length, etag: "\"v71\"", lastModified: HTTPDate.text(1_700_003_600))

    static let lies: [Fault] = [
        .contentRange(nil), .contentRange("bytes"), .contentRange("bytes 100000-299999"),
        .contentRange("octets 100000-299999/400000"), .contentRangeTotal(400_001), .contentRangeTotal(399_999),
        .startShifted(by: 1), .startShifted(by: 5000), .startShifted(by: -1), .startShifted(by: -90_000), .multipart,
        .header("ETag", "\"other\""), .weakETag, .header("ETag", nil),
        .header("Last-Modified", HTTPDate.text(1_700_000_001)), .gzip, .chunked, .contentLength(off: -7),
        .contentLength(off: 7), .unsatisfiable(nil), .unsatisfiable("bytes */400000"), .garbageHead, .noAnswer(.close),
        .noAnswer(.reset), .ignoreRange, .refuseIfRange, .status(403), .status(500), .status(503, retryAfter: "3600"),
        .shortRange(5000),
    ]

    /// Runs a download of which every request but the first is bent.
    private func run(
        _ others: [Fault], replacing next: SourceVersion? = nil, count: Int = 4,
        _ check: (SegmentFixture, TransferTask) async throws -> Void = { _, _ in }
    ) async throws {
        let segmented = try await SegmentFixture()
        let gate = Gate()
        let source = segmented.source
        segmented.fixture.server.on("/f") { request in
            let isFirst = request.header("Range") == nil && request.index == 0
            let version = isFirst ? source : next ?? source
            var reply = version.honestReply(to: request)
            for fault in isFirst ? [.stall(at: 1000, until: gate)] : others {
                fault.apply(to: &reply, request, version)
            }
            return reply
        }
        let id = try await segmented.add(.exactly(count))
        try await eventually("it is known whether the server does ranges") {
            guard segmented.requests.count >= 2 else { return false }
            return await segmented.isSettled(id)
        }
        gate.open()
        let task = try await segmented.completes(id, "\(others)")
        #expect(try await segmented.fixture.events(of: id, in: segmented.manager).contains(.taskSourceChanged) == false)
        #expect(task.attempts <= 1)
        try await check(segmented, task)
        await segmented.end()
    }

    @Test(arguments: lies) func aLieToFurtherConnectionsCostsOnlyConnections(_ lie: Fault) async throws {
        try await run([lie])
    }

    @Test func aServerWithoutRangesSendsOneStream() async throws {
        try await run([.ignoreRange]) { segmented, _ in
            #expect(segmented.requests.first?.sent == SegmentFixture.length)
        }
    }

    @Test func aServerThatRefusesMoreConnectionsSendsOneStream() async throws {
        try await run([.status(503)]) { segmented, _ in
            #expect(segmented.requests.first?.sent == SegmentFixture.length)
            #expect(segmented.requests.count <= 4)
        }
    }

    @Test func aVersionThatChangesMeanwhileIsNotMixedIn() async throws {
        try await run([], replacing: Self.other)
        try await run([.ignoreIfRange], replacing: Self.other)
    }

    @Test func aFileThatGrowsIsNotMixedIn() async throws {
        // The tag says nothing of it, the length does.
        let grown = SourceVersion(
            seed: 72, length: SegmentFixture.length + 50_000, etag: "\"v70\"",
            lastModified: HTTPDate.text(1_700_000_000))
        try await run([], replacing: grown)
    }

    @Test func aServerThatAllowsTwoConnectionsGetsTwo() async throws {
        let segmented = try await SegmentFixture()
        let live = NIOLockedValueBox(0)
        let (source, gate) = (segmented.source, Gate())
        let refused = NIOLockedValueBox(0)
        segmented.fixture.server.on("/f") { request in
            // Who has been let in stays so: of the others none comes in.
            let isLet = live.withLockedValue { live in
                live += 1
                return live <= 2
            }
            guard isLet || refused.withLockedValue({ $0 }) >= 6 else {
                refused.withLockedValue { $0 += 1 }
                return .failure(503)
            }
            var reply = source.honestReply(to: request)
            Fault.stall(at: 1000, until: gate).apply(to: &reply, request, source)
            return reply
        }
        let id = try await segmented.add(.exactly(8))
        try await eventually("six were refused") { refused.withLockedValue { $0 } == 6 }
        gate.open()
        let task = try await segmented.completes(id)
        #expect(task.attempts <= 1)
        await segmented.end()
    }

    @Test(arguments: [
        SourceVersion(seed: 73, length: 400_000, etag: "W/\"v73\""), SourceVersion(seed: 74, length: 400_000),
        SourceVersion(seed: 75, length: 30_000, etag: "\"v75\""),
    ])
    func aFileWithoutAStrongTagOrTooSmallIsNotSplit(_ source: SourceVersion) async throws {
        let segmented = try await SegmentFixture(source)
        try await segmented.completes(try await segmented.add(.exactly(8)))
        #expect(segmented.requests.count == 1)
        await segmented.end()
    }

    @Test func aFileWithoutALengthIsOneStream() async throws {
        let segmented = try await SegmentFixture()
        segmented.served.always(.chunked)
        try await segmented.completes(try await segmented.add(.exactly(8)))
        #expect(segmented.requests.count == 1)
        await segmented.end()
    }

    /// The promise over all of it: whatever each request meets with.
    @Test(arguments: 0..<UInt64(Campaign.rounds(40))) func aSegmentedFileFromALyingServerIsOneVersion(_ seed: UInt64)
        async throws
    {
        let liar = LyingServer(seed: seed, truthfulAfter: 12)
        let segmented = try await SegmentFixture {
            $0.smallestSegment = 4096
            $0.checkpointBytes = 64 << 10
        }
        segmented.fixture.server.on("/f") { liar.reply(to: $0) }
        let id = try await segmented.add(.exactly(1 + Int(seed % 8)), maxRetries: 3)
        let task = try await segmented.fixture.end(of: id, in: segmented.manager)
        if task.state == .completed {
            let path = try #require(task.outcome.finalPath)
            #expect(liar.isOneVersion(try FileTree.read(path)), "\(liar)")
        } else {
            #expect(task.error != nil)
        }
        await segmented.end()
    }

    /// After bytes were kept with gaps.
    @Test func aFileThatChangesWhilePausedStartsOver() async throws {
        let segmented = try await SegmentFixture()
        let (id, gate) = try await segmented.pausedWithGaps()
        segmented.served.replace(with: Self.other)
        segmented.served.always()
        gate.open()
        _ = try await segmented.manager.tasks.apply(.resume, to: [id], for: SegmentFixture.caller)
        try await segmented.completes(id, as: Self.other)
        let changes = try await segmented.fixture.events(of: id, in: segmented.manager).filter {
            $0 == .taskSourceChanged
        }
        #expect(changes.count == 1)
        await segmented.end()
    }

    /// After bytes were kept with gaps, by a server that has unlearned ranges.
    @Test func bytesKeptWithGapsAreCompletedByOneStream() async throws {
        let segmented = try await SegmentFixture()
        let (id, gate) = try await segmented.pausedWithGaps()
        segmented.served.always(.ignoreRange)
        gate.open()
        _ = try await segmented.manager.tasks.apply(.resume, to: [id], for: SegmentFixture.caller)
        try await segmented.completes(id)
        await segmented.end()
    }
}
