import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// The check that no task waits while it may start (`RunScheduler.checkIdleness`).
struct IdleCheckTests {
    /// Nothing but the test calls the scheduler before the manager is started.
    @Test func aTaskThatIsReleasedWithoutAPassIsFound() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 100))
        let manager = try await fixture.open()
        await manager.scheduler.hold(.pausedByOperator)
        let id = try await fixture.add("/a", as: "a", to: manager)
        await manager.scheduler.passEnded()
        #expect(try await manager.scheduler.startableTask() == nil, "the queue is paused")

        await manager.scheduler.release(.pausedByOperator)
        #expect(try await manager.scheduler.startableTask() == id)
        #expect(try await manager.store.read { try $0.tasks.find(id)?.state } == .queued, "the check changes nothing")

        try await manager.start()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await manager.scheduler.startableTask() == nil)
        await manager.shutdown(.suspend)
    }
}
