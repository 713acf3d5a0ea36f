import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// The reasons for which queued tasks do not start.
@Suite struct QueuedWaitTests {
    @Test func aTaskWhoseRowWasReadBeforeItsStartWaitsForNothing() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(92, length: 400_000)
        let stalled = Gate()
        fixture.server.serve("/f", version, faults: [[.stall(at: 300_000, until: stalled)]])
        let manager = try await fixture.open()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let queued = try await manager.queries.task(id, for: ManagerFixture.caller)
        #expect(queued.state == .queued)
        try await manager.start()
        try await eventually("most of it came") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 300_000
        }
        #expect(try await manager.queries.waits(of: [queued])[id] == nil)
        stalled.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }
}
