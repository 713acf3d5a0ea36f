import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct PacingTests {
    @Test func readingPausesBeyondTheLimitOfUnsavedBytes() async throws {
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
                    await harness.turn()
                }
                highest = max(highest, handle.progress.snapshot.offset - committed)
                committed = offset
                await harness.engine.committed(handle.id, offset: offset)
            case .finished(let outcome): #expect(outcome.result == .complete)
            case .head, .redirected, .judged, .informational, .response: break
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
            case .head, .redirected, .judged, .informational, .response: break
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

    @Test func aLimitCanBeLiftedAndSetDuringATransfer() async throws {
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

    @Test(arguments: [5000, 0] as [Int64]) func aSilentServerIsAnIdleTimeout(after received: Int64) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let silence: Fault = received > 0 ? .stall(at: received, until: gate) : .stallHead(until: gate)
        server.serve("/file", .tagged(54, length: 100_000), faults: [[silence]])
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(try .get(server.url("/file")) { $0.request.timeouts.idle = 2 })
        try await eventually("the server falls silent") {
            server.requests.count == 1 && handle.progress.snapshot.offset == received
        }
        clock.advance(by: .seconds(2))
        await harness.turn()
        let record = try await harness.follow(handle)
        #expect(record.error?.reason == .idleTimeout)
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.offset == received)
        gate.open()
    }

    @Test func aSettledFailureDoesNotWaitForItsBody() async throws {
        let server = try await FaultServer()
        server.on("/file") { _ in
            Reply(
                404, headers: [HeaderField(name: "Content-Length", value: "100")], body: [.bytes([1, 2, 3])],
                ending: .hang)
        }
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(try .get(server.url("/file")) { $0.request.timeouts.idle = 1e6 })
        try await eventually("it ends") {
            clock.advance(by: .seconds(1))
            return await harness.engine.isPaused(handle.id) == nil
        }
        let record = try await harness.follow(handle)
        #expect(record.error?.httpStatus == 404)
    }

    @Test func aSlowButSteadyTransferNeverTimesOut() async throws {
        let server = try await FaultServer()
        let gates = (0..<5).map { _ in Gate() }
        let stalls = gates.enumerated().map { index, gate in Fault.stall(at: Int64(index + 1) * 20, until: gate) }
        server.serve("/file", .tagged(56, length: 120), faults: [stalls])
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(try .get(server.url("/file")) { $0.request.timeouts.idle = 4 })
        for (index, gate) in gates.enumerated() {
            try await eventually("the next bytes") { handle.progress.snapshot.offset == Int64(index + 1) * 20 }
            clock.advance(by: .seconds(3))
            await harness.turn()
            gate.open()
        }
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .complete)
    }

    @Test func theTotalTimeBoundsAnAttempt() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(57, length: 100_000), faults: [[.drip(1000, every: .milliseconds(20))]])
        let record = try await Harness().run(.get(server.url("/file")) { $0.request.timeouts.total = 0.3 })
        #expect(record.error?.reason == .totalTimeout)
    }

    @Test func aLimitedTransferDoesNotTimeOutAsIdle() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(58, length: 40_000))
        let clock = ManualClock()
        let start = clock.now
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(
            try .get(server.url("/file")) { attempt in
                attempt.maxReceiveRate = 4000
                attempt.request.timeouts.idle = 2
            })
        try await eventually("it ends") {
            let isPaused = await harness.engine.isPaused(handle.id)
            // Time passes only while the limit holds the transfer back.
            if isPaused == true { clock.advance(by: .seconds(1)) }
            return isPaused == nil
        }
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .complete)
        #expect(start.duration(to: clock.now) >= .seconds(5))
    }
}
