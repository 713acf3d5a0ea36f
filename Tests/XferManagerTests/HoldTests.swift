import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Starts that are prevented for a while.
@Suite struct HoldTests {
    @Test(arguments: [false, true]) func nothingStartsUntilEveryHolderOfANestedHoldHasReleasedIt(isWaking: Bool)
        async throws
    {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", SourceVersion.tagged(1, length: 10))
        let manager = try await fixture.open()
        try await manager.start()
        let scheduler = manager.scheduler
        for _ in 0..<2 { await scheduler.hold(isWaking ? .waking : .resuming) }
        let id = try await fixture.add("/a", as: "a", to: manager)
        await scheduler.release(isWaking ? .waking : .resuming)
        await scheduler.schedule()
        await scheduler.passEnded()
        #expect(try await manager.queries.task(id, for: ManagerFixture.caller).state == .queued)
        #expect(fixture.server.requests.isEmpty)
        await scheduler.release(isWaking ? .waking : .resuming)
        await scheduler.schedule()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func onePauseIsEndedByOneResumption() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", SourceVersion.tagged(1, length: 10))
        let manager = try await fixture.open()
        try await manager.start()
        for _ in 0..<2 { try await manager.queue.pause(stopsRunning: false) }
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await manager.queue.resume()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }
}
