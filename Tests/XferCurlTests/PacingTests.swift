import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct PacingTests {
    @Test func readingPausesWhileTooMuchIsAtStake() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(50, length: 8 << 20)
        server.serve("/file", version)
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let part = try PartFile()
        let handle = await harness.engine.start(
            try .get(server.url("/file"), into: part) { attempt in
                attempt.checkpoints = CheckpointWindow.Limits(
                    dueBytes: 256 << 10, dueAfter: .seconds(3600), pauseBytes: 1 << 20, pauseAfter: .seconds(3600))
                attempt.request.timeouts.idle = 4
            })
        var highest: Int64 = 0
        var committed: Int64 = 0
        var checkpoints = 0
        for await event in handle.events {
            switch event {
            case .checkpointDue(let offset):
                checkpoints += 1
                if checkpoints == 2 {
                    try await eventually("reading pauses") { await harness.engine.isPaused(handle.id) == true }
                    // Longer than the idle timeout: the time in which we pause does not count.
                    clock.advance(by: .seconds(5))
                    _ = await harness.engine.turns
                }
                highest = max(highest, handle.progress.snapshot.offset - committed)
                committed = offset
                await harness.engine.committed(handle.id, offset: offset)
            case .finished(let outcome): #expect(outcome.result == .complete)
            case .head, .redirected, .judged: break
            }
        }
        #expect(checkpoints >= 8)
        #expect(highest <= 1 << 20)
        #expect(try part.bytes == version.bytes)
    }

    @Test func aSlowTransferIsCheckpointedByTime() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/file", .tagged(51, length: 100_000), faults: [[.stall(at: 50_000, until: gate)]])
        let harness = try Harness()
        let part = try PartFile()
        let handle = await harness.engine.start(
            try .get(server.url("/file"), into: part) { attempt in
                attempt.checkpoints = CheckpointWindow.Limits(dueAfter: .milliseconds(50))
            })
        for await event in handle.events {
            switch event {
            case .checkpointDue(let offset):
                #expect(offset == 50_000)
                await harness.engine.committed(handle.id, offset: offset)
                gate.open()
            case .finished(let outcome): #expect(outcome.result == .complete)
            case .head, .redirected, .judged: break
            }
        }
    }

    @Test func aLimitHoldsFromTheFirstByteOn() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(52, length: 200_000)
        server.serve("/file", version)
        let part = try PartFile()
        let start = ContinuousClock.now
        let record = try await Harness().run(
            .get(server.url("/file"), into: part) { $0.maxReceiveRate = 200_000 })
        let elapsed = ContinuousClock.now - start
        #expect(record.outcome.result == .complete)
        // Faster is wrong; slower is only a loaded machine.
        #expect(elapsed > .milliseconds(850))
        #expect(try part.bytes == version.bytes)
    }

    @Test func aLimitHoldsOverSeveralRequests() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(59, length: 200_000)
        server.serve("/file", version).always(.shortRange(30_000))
        let part = try PartFile(holding: version.bytes(0..<1))
        let start = ContinuousClock.now
        let attempt = try Attempt.get(server.url("/file"), into: part) { $0.maxReceiveRate = 200_000 }
        let record = try await Harness().run(attempt.keeping(version, 1))
        #expect(record.outcome.result == .complete)
        #expect(server.requests.count == 7)
        #expect(ContinuousClock.now - start > .milliseconds(850))
        #expect(try part.bytes == version.bytes)
    }

    @Test func aLimitCanBeLiftedAndPutOnWhileItRuns() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(53, length: 4 << 20)
        server.serve("/file", version)
        let harness = try Harness()
        let part = try PartFile()
        let handle = await harness.engine.start(
            try .get(server.url("/file"), into: part) { $0.maxReceiveRate = 20_000 })
        try await eventually("some bytes") { handle.progress.snapshot.offset > 0 }
        await harness.engine.setMaxReceiveRate(handle.id, 1)
        await harness.engine.setMaxReceiveRate(handle.id, 0)
        let record = try await harness.follow(handle, part: part)
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
    }

    @Test func silenceIsAnIdleTimeout() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(54, length: 100_000), faults: [[.hang(after: 5000)]])
        let gate = Gate()
        server.serve("/mute", .tagged(55, length: 10), faults: [[.stallHead(until: gate)]])
        let harness = try Harness()
        for path in ["/file", "/mute"] {
            let record = try await harness.run(
                .get(server.url(path)) { $0.request.timeouts.idle = 2 })
            #expect(record.error?.reason == .idleTimeout)
            #expect(record.error?.isRetriable == true)
            #expect(record.outcome.offset == (path == "/file" ? 5000 : 0))
        }
        gate.open()
    }

    @Test func aSettledFailureDoesNotWaitForItsBody() async throws {
        let server = try await FaultServer()
        server.on("/file") { _ in
            Reply(
                404, headers: [HeaderField(name: "Content-Length", value: "100")], body: [.bytes([1, 2, 3])],
                ending: .hang)
        }
        let record = try await Harness().run(.get(server.url("/file")) { $0.request.timeouts.idle = 0.8 })
        #expect(record.error?.httpStatus == 404)
    }

    @Test func aSlowButSteadyTransferNeverTimesOut() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(56, length: 100), faults: [[.drip(5, every: .milliseconds(250))]])
        let record = try await Harness().run(.get(server.url("/file")) { $0.request.timeouts.idle = 4 })
        #expect(record.outcome.result == .complete)
    }

    @Test func theTotalTimeBoundsAnAttempt() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(57, length: 100_000), faults: [[.drip(1000, every: .milliseconds(20))]])
        let record = try await Harness().run(.get(server.url("/file")) { $0.request.timeouts.total = 0.3 })
        #expect(record.error?.reason == .totalTimeout)
    }

    @Test func aLimitDoesNotMakeATransferIdle() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(58, length: 40_000))
        let record = try await Harness().run(
            .get(server.url("/file")) { attempt in
                attempt.maxReceiveRate = 4000
                attempt.request.timeouts.idle = 4
            })
        #expect(record.outcome.result == .complete)
    }
}
