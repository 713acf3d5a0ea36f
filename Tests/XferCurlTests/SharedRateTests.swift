import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Limits that several transfers share, by a clock of the test's own.
@Suite struct SharedRateTests {
    private static let length: Int64 = 1 << 20
    private static let rate: Int64 = 256 << 10

    private func download(
        _ server: FaultServer, into part: PartFile, _ configure: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        try .get(server.url("/file"), into: part) { attempt in
            // Less than what a transfer waits in line.
            attempt.request.timeouts.idle = 2
            configure(&attempt)
        }
    }

    private func received(_ handles: [AttemptHandle]) -> [Int64] { handles.map(\.progress.snapshot.received) }

    @Test(arguments: [1, 2]) func severalTransfersShareOneRateEqually(loops: Int) async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(150, length: Self.length)
        server.serve("/file", version)
        let clock = ManualClock()
        let harness = try Harness(clock: clock, loops: loops)
        await harness.engine.setRateLimits(RateLimits(receive: [.service: Self.rate]))
        let parts = try (0..<4).map { _ in try PartFile() }
        var handles: [AttemptHandle] = []
        for part in parts { handles.append(await harness.engine.start(try download(server, into: part))) }
        #expect(Set(handles.map(\.id.loop)).count == loops)
        let ends = zip(handles, parts).map { handle, part in
            Task { try await harness.follow(handle, part: part) }
        }
        // The clock stands still until the server has answered every transfer, so that none reaches its idle timeout.
        try await eventually("each has a chunk or waits for one") {
            var begun = 0
            for handle in handles {
                let isWaiting = await harness.engine.isPaused(handle.id) == true
                if isWaiting || handle.progress.snapshot.received > 0 { begun += 1 }
            }
            return begun == handles.count
        }
        // What each loop may let through before it hears of the others'.
        let slack = 32_768 + 16_384 * Double(loops - 1)
        var elapsed = 0.0
        // What they had when the last one had begun.
        var begun: [Int64]?
        while elapsed < 5 {
            // Less than what a bucket saves.
            clock.advance(by: .milliseconds(25))
            elapsed += 0.025
            let allowed = Double(Self.rate) * elapsed
            try await eventually("what time allows comes, but for two chunks of libcurl's") {
                await harness.turn()
                return Double(received(handles).reduce(0, +)) >= allowed * 0.95 - slack
            }
            #expect(Double(received(handles).reduce(0, +)) <= allowed + Double(Self.rate) * 0.05 + slack)
            if begun == nil, received(handles).allSatisfy({ $0 > 0 }) { begun = received(handles) }
        }
        let total = received(handles).reduce(0, +)
        #expect(Double(total) >= Double(Self.rate) * elapsed * 0.9)
        let gained = zip(received(handles), try #require(begun)).map { $0 - $1 }
        for count in gained { #expect((0.18...0.32).contains(Double(count) / Double(gained.reduce(0, +)))) }
        // A transfer that waited in line did not count as idle.
        await harness.engine.setRateLimits(RateLimits())
        for (end, part) in zip(ends, parts) {
            #expect(try await end.value.outcome.result == .complete)
            #expect(try part.bytes == version.bytes)
        }
    }

    @Test func aGroupAtItsLimitDoesNotDelayOtherGroups() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(151, length: Self.length))
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let slow = GroupKey(owner: Owner(uid: 1000), name: "slow")
        let other = GroupKey(owner: Owner(uid: 1000), name: "other")
        await harness.engine.setRateLimits(RateLimits(receive: [.group(slow): 1000]))
        let (held, free) = (try PartFile(), try PartFile())
        let limited = await harness.engine.start(
            try download(server, into: held) { $0.rateScopes = [.service, .group(slow)] })
        try await eventually("its first chunk") { limited.progress.snapshot.received > 0 }
        let record = try await harness.run(
            try download(server, into: free) { $0.rateScopes = [.service, .group(other)] })
        #expect(record.outcome.result == .complete)
        #expect(limited.progress.snapshot.received <= 32_768)
        await harness.engine.stop(limited.id)
    }

    @Test(arguments: [false, true], [1, 2]) func sentContentObeysTheSharedRate(asPart: Bool, loops: Int) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let clock = ManualClock()
        let harness = try Harness(clock: clock, loops: loops)
        await harness.engine.setRateLimits(RateLimits(send: [.service: 64 << 10]))
        let bytes = SourceVersion.tagged(152, length: 64 << 10).bytes
        let content: AttemptContent = asPart ? .parts([AttemptPart(name: "a", content: .bytes(bytes))]) : .bytes(bytes)
        var handles: [AttemptHandle] = []
        for _ in 0..<2 { handles.append(await harness.engine.start(try .exchange(.put, server.url("/x"), content))) }
        let ends = handles.map { handle in Task { try await harness.follow(handle) } }
        func sent() -> Int64 { handles.reduce(0) { $0 + $1.progress.snapshot.sent } }
        // A bucket may be in debt for a chunk, on each loop for one of its own.
        let slack = Int64(16_384 * loops)
        var steps = 0
        while sent() < 100_000, steps < 200 {
            let allowed = Int64(steps) * 8192
            try await eventually("what time allows is sent") {
                await harness.turn()
                return sent() >= min(allowed - slack, 100_000)
            }
            #expect(sent() <= allowed + Int64(2 + loops) * 8192 + 2000)
            clock.advance(by: .milliseconds(125))
            steps += 1
        }
        #expect(steps >= 10)
        await harness.engine.setRateLimits(RateLimits())
        for end in ends { #expect(try await end.value.outcome.result == .complete) }
        #expect(server.requests.count == 2)
    }

    @Test func aCodedAnswerObeysTheSharedRate() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(154, length: 400_000)
        server.serve("/x", version, faults: [[.gzip]])
        let harness = try Harness(clock: ManualClock())
        await harness.engine.setRateLimits(RateLimits(receive: [.service: 100_000]))
        let handle = await harness.engine.start(try .exchange(.get, server.url("/x")))
        try await eventually("it waits") { await harness.engine.isPaused(handle.id) == true }
        #expect(handle.progress.snapshot.received <= 65_536)
        await harness.engine.setRateLimits(RateLimits())
        let record = try await harness.follow(handle)
        #expect(record.outcome.head?.contentEncoding == "gzip")
        #expect(record.outcome.body == Gzip.stored(version.bytes))
    }

    @Test(arguments: [1, 2]) func aTransferThatEndsWhileItWaitsLeavesTheQueue(loops: Int) async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(153, length: Self.length))
        let harness = try Harness(clock: ManualClock(), loops: loops)
        await harness.engine.setRateLimits(RateLimits(receive: [.service: 1000]))
        let parts = try (0..<3).map { _ in try PartFile() }
        var handles: [AttemptHandle] = []
        for part in parts { handles.append(await harness.engine.start(try download(server, into: part))) }
        try await eventually("a transfer has the first chunk, the others wait") {
            var waiting = 0
            for handle in handles where await harness.engine.isPaused(handle.id) == true { waiting += 1 }
            return waiting >= 3 - loops && received(handles).contains { $0 > 0 }
        }
        for handle in handles {
            await harness.engine.stop(handle.id)
            #expect(try await harness.follow(handle).outcome.result == .stopped)
        }
    }
}
