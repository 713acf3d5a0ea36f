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

    @Test func aResumedQueueContinuesWhatItsPauseStoppedAndNotWhatAUserPaused() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        let names = ["a", "b", "c"]
        for (seed, name) in names.enumerated() {
            fixture.server.serve("/\(name)", .tagged(UInt64(seed), length: 300_000)).always(
                .stall(at: 100_000, until: gate))
        }
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        var ids: [TaskID] = []
        for name in names { ids.append(try await fixture.add("/\(name)", as: name, to: manager)) }
        for id in ids {
            try await eventually("bytes are there") {
                await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
            }
        }
        _ = try await manager.tasks.apply(.pause, to: [ids[0]], for: caller)
        try await manager.queue.pause(stopsRunning: true)
        for id in ids.dropFirst() {
            try await eventually("it is queued again") {
                try await manager.queries.task(id, for: caller).state == .queued
            }
            #expect(try await !fixture.events(of: id, in: manager).contains(.taskPaused))
        }
        gate.open()
        try await manager.queue.resume()
        for id in ids.dropFirst() {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed)
        }
        #expect(fixture.server.requests(to: "/b").last?.header("Range") == "bytes=100000-")
        #expect(try await manager.queries.task(ids[0], for: caller).state == .paused)
        await manager.shutdown(.suspend)
    }
}
