import Testing
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// The reasons for which queued tasks do not start.
@Suite struct QueuedWaitTests {
    @Test func aResumedTaskWhoseFormerRunWaitsForTheDiskNamesIt() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(91, length: 400_000)
        let stalled = Gate()
        fixture.server.serve("/f", version, faults: [[.stall(at: 300_000, until: stalled)]])
        let manager = try await fixture.open(change: { $0.checkpointInterval = .seconds(600) })
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        try await eventually("most of it came") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 300_000
        }
        // A disk that does not answer: the received bytes cannot be made durable.
        let disk = ThreadGate()
        async let holding: Void = disk.hold(manager.services.pool)
        await disk.arrived(BlockingPool.maxThreads)
        async let verbs: Void = {
            _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
            _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        }()
        defer { disk.open() }
        try await eventually("it is queued again, and its former run is named") {
            let task = try await manager.queries.task(id, for: ManagerFixture.caller)
            guard task.state == .queued else { return false }
            return try await manager.queries.waits(of: [task])[id]?.reason == .runEnding
        }
        disk.open()
        await holding
        try await verbs
        stalled.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try version.equals(file: "\(fixture.downloads)/f"))
        await manager.shutdown(.suspend)
    }
}
