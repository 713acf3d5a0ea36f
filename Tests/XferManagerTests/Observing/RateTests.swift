import Testing
import XferCore
import XferModel
import XferProtocol
import XferSystem
import XferTestSupport

@testable import XferManager

/// Rates are of bytes that come over the network now.
@Suite struct RateTests {
    @Test func aResumedDownloadsRateLeavesKeptBytesOut() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(130, length: 400_000)
        let (stalled, held) = (Gate(), Gate())
        fixture.server.on("/f") { request in
            guard request.header("Range") == nil else {
                await held.wait()
                return version.honestReply(to: request)
            }
            var reply = version.honestReply(to: request)
            Fault.stall(at: 300_000, until: stalled).apply(to: &reply, request, version)
            return reply
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        try await eventually("most of it came") { await manager.queries.progress(of: [id])[id]?.received == 300_000 }
        _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
        try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil }
        stalled.open()

        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        await held.arrived()
        try await eventually("what is kept is known") {
            await manager.queries.progress(of: [id])[id]?.received == 300_000
        }
        await manager.scheduler.sampleProgress()
        #expect(await manager.queries.progress(of: [id])[id]?.rate == 0)
        #expect(await manager.queries.progress(of: [id])[id]?.eta == nil)
        #expect(try await manager.queue.stats(for: ManagerFixture.caller).rates.received == 0)
        held.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func keptBytesAreShownBeforeTheRunHasOpenedThem() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(131, length: 400_000)
        let stalled = Gate()
        fixture.server.serve("/f", version, faults: [[.stall(at: 300_000, until: stalled)]])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        try await eventually("most of it came") { await manager.queries.progress(of: [id])[id]?.received == 300_000 }
        _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
        try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil }
        stalled.open()

        // Nothing can be opened, as on a disk that does not answer.
        let disk = ThreadGate()
        let pool = try fixture.filePool(of: manager)
        async let holding: Void = disk.hold(pool)
        await disk.arrived(4)
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        let first = try await eventually("it runs") { await manager.queries.progress(of: [id])[id] }
        #expect(first.received == 300_000 && first.total == 400_000)
        disk.open()
        await holding
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aSharedTransferCountsOnceInTheRateOfAll() async throws {
        let stalled = try await CoalescingTests.Stalled()
        let ids = [try await stalled.add("a"), try await stalled.add("b")]
        try await stalled.halfWay(ids)
        let look = try await eventually("bytes were counted") {
            let look = await stalled.manager.scheduler.look()
            return look.each.count == 2 && look.all.received > 0 ? look : nil
        }
        #expect(look.each.allSatisfy { $0 == look.all.received })
        #expect(look.all.sent == 0)
        stalled.gate.open()
        try await stalled.completed(ids, names: ["a", "b"])
        await stalled.manager.shutdown(.suspend)
    }

    @Test func receivedBytesAreCountedOnceAndBeforeTheEnd() async throws {
        let stalled = try await CoalescingTests.Stalled()
        let id = try await stalled.add("a")
        try await stalled.halfWay([id])
        let mover = try #require(await stalled.manager.scheduler.runs[id]?.control.mover)
        let far = Clocks.monotonic().advanced(by: .seconds(60))
        _ = mover.measure(far)
        #expect(mover.measure(far) == Traffic())
        #expect(mover.traffic.received >= 100_000)
        stalled.gate.open()
        try await stalled.completed([id], names: ["a"])
        #expect(mover.traffic == Traffic(received: CoalescingTests.version.length, sent: 0))
        await stalled.manager.shutdown(.suspend)
    }
}

extension RunScheduler {
    /// Both at one moment.
    fileprivate func look() -> (all: Traffic, each: [Int64]) {
        (rates(visibleTo: nil), progressOfAll(visibleTo: nil).map(\.rate))
    }
}
