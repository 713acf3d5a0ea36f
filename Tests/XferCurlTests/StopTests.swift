import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct StopTests {
    @Test func afterAStopNothingIsWritten() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/file", .tagged(60, length: 10 << 20), faults: [[.stall(at: 50_000, until: gate)]])
        let harness = try Harness()
        let part = try PartFile()
        let handle = await harness.engine.start(try .get(server.url("/file"), into: part))
        try await eventually("50,000 bytes are written") { handle.progress.snapshot.offset == 50_000 }
        await harness.engine.stop(handle.id)
        part.truncate()
        gate.open()
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .stopped)
        #expect(record.outcome.offset == 50_000)
        try await eventually("the connection is closed") { server.openConnectionCount == 0 }
        #expect(try part.bytes.isEmpty)
    }

    @Test func stoppingTwiceOrTooLateIsHarmless() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(61, length: 100))
        let harness = try Harness()
        let handle = await harness.engine.start(try .get(server.url("/file")))
        let record = try await harness.follow(handle)
        await harness.engine.stop(handle.id)
        await harness.engine.proceed(handle.id)
        await harness.engine.committed(handle.id, offset: 5)
        await harness.engine.setMaxReceiveRate(handle.id, 5)
        #expect(record.outcome.result == .complete)
    }

    @Test(arguments: [1, 2]) func aShutdownEndsEveryTransferOnce(loops: Int) async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(62, length: 100_000)).always(.hang(after: 10))
        let harness = try Harness(loops: loops)
        var handles: [AttemptHandle] = []
        for _ in 0..<20 { handles.append(await harness.engine.start(try .get(server.url("/file")))) }
        try await eventually("requests are out") { server.requests.count == 20 }
        await harness.engine.shutdown()
        for handle in handles {
            let record = try await harness.follow(handle)
            #expect(record.outcome.result == .stopped)
        }
        try await eventually("all connections are closed") { server.openConnectionCount == 0 }
        // Later commands end at once instead of hanging.
        let late = try await harness.run(.get(server.url("/file")))
        #expect(late.outcome.result == .stopped)
        await harness.engine.shutdown()
    }

    @Test(arguments: [1, 2]) func concurrentStartsAndStopsLeaveNothingBehind(loops: Int) async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(63, length: 300_000))
        let harness = try Harness(loops: loops)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let handle = await harness.engine.start(try .get(server.url("/file")))
                    if index.isMultiple(of: 3) { await Task.yield() }
                    await harness.engine.stop(handle.id)
                    let record = try await harness.follow(handle)
                    #expect(record.outcome.result == .stopped || record.outcome.result == .complete)
                }
            }
            try await group.waitForAll()
        }
        let after = try await harness.run(.get(server.url("/file")))
        #expect(after.outcome.result == .complete)
    }

    @Test(arguments: [1, 2]) func anIdleLoopDoesNotWakeUp(loops: Int) async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(64, length: 100_000))
        let harness = try Harness(loops: loops)
        _ = try await harness.run(.get(server.url("/file")))
        try await eventually("the loop waits without a deadline") { harness.engine.isResting }
        // Nothing but our asking wakes it: each answer costs a turn of every loop.
        let before = await harness.engine.turns
        for _ in 0..<10 { _ = await harness.engine.turns }
        let after = await harness.engine.turns
        #expect(after - before <= 11 * loops)
        try await eventually("the loop waits without a deadline again") { harness.engine.isResting }
    }
}
