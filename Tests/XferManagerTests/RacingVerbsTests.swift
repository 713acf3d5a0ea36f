import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// Verbs that meet a task while its run starts, stops or publishes.
@Suite struct RacingVerbsTests {
    /// Resumed before its run has wound down, a task must not get a second run on the same partial file.
    @Test func aTaskPausedAndResumedAtOnceCompletesOnce() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(1, length: 300_000)
        let gate = Gate()
        fixture.server.serve("/a", version).always(.stall(at: 100_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager)
        for _ in 0..<100 {
            async let paused = manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
            async let resumed = manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
            _ = try await (paused, resumed)
        }
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        gate.open()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed)
        #expect(try version.equals(file: fixture.downloads + "/a"))
        let terminal = try await fixture.events(of: id, in: manager).filter(\.isTerminal)
        #expect(terminal == [.taskCompleted])
        #expect(try fixture.files() == ["a"])
        await manager.shutdown(.suspend)
    }

    /// Wherever a cancel meets its run, the task ends once, and files agree with how it ended.
    @Test func aTaskCancelledAndRemovedAtAnyMomentLeavesNothing() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/b", SourceVersion.tagged(2, length: 20_000))
        let manager = try await fixture.open()
        try await manager.start()
        var published: Set<String> = []
        for index in 0..<150 {
            let name = "f\(index)"
            let id = try await fixture.add("/b", as: name, to: manager)
            for _ in 0..<(index * 7 % 40) { _ = try await manager.queries.task(id, for: ManagerFixture.caller) }
            let outcome = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
            if outcome.changed.isEmpty { published.insert(name) }
            _ = try await manager.tasks.apply(.remove, to: [id], for: ManagerFixture.caller)
        }
        await manager.shutdown(.drain)
        // The next start deletes what a stopping daemon had no time to delete.
        let next = try await fixture.open()
        try await next.start()
        try await eventually("bytes of cancelled tasks are gone") { try Set(fixture.files()) == published }
        await next.shutdown(.suspend)
    }

    /// The first checkpoint publishes the response's event, except if the task has ended by then.
    @Test func noEventFollowsTheEndOfATask() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/d", .tagged(4, length: 300_000)).always(.stall(at: 100_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        for index in 0..<5 {
            let id = try await fixture.add("/d", as: "d\(index)", to: manager)
            try await eventually("bytes have come") {
                await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
            }
            _ = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
            try await eventually("the run is over") { await manager.scheduler.runs[id] == nil }
            #expect(try await fixture.events(of: id, in: manager).last == .taskCancelled)
        }
        gate.open()
        await manager.shutdown(.suspend)
    }

    /// No table of the manager holds a task that has ended, although many clients add and cancel at once
    /// (AFURLSessionManager's table of delegates under its lock).
    @Test func aThousandConcurrentAddsAndCancelsLeaveNothingBehind() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/p", .tagged(4, length: 200_000)).always(.stall(at: 100_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        let ids = try await withThrowingTaskGroup(of: TaskID.self) { group in
            for index in 0..<1000 {
                group.addTask {
                    let id = try await fixture.add("/p", as: "p\(index)", to: manager)
                    _ = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
                    return id
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1000)
        try await eventually("no run is left") { await manager.scheduler.runs.isEmpty }
        #expect(await manager.scheduler.passes.stops.isEmpty)
        #expect(await manager.scheduler.waiters.ends.isEmpty)
        #expect(try await manager.queries.counts() == [.cancelled: 1000])
        let ends = EventFilter(types: [.taskCancelled, .taskCompleted, .taskFailed])
        guard case .events(let events, _) = try await manager.queries.events(since: 0, ends, limit: 2000) else {
            Issue.record("events are gone")
            return
        }
        #expect(events.count == 1000 && Set(events.compactMap(\.taskID)) == ids)
        try await eventually("no bytes are left") { try fixture.files().isEmpty }
        gate.open()
        await manager.shutdown(.suspend)
    }

    /// A stop that comes between the commit of a start and its launch is not lost.
    @Test func aTaskPausedDuringItsStartStaysPausedAndFetchesNothingMore() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/c", .tagged(3, length: 200_000)).always(.stallHead(until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        var ids: [TaskID] = []
        for index in 0..<40 {
            let id = try await fixture.add("/c", as: "c\(index)", to: manager)
            for _ in 0..<(index % 8) { await Task.yield() }
            _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
            ids.append(id)
        }
        try await eventually("no run is left") { await manager.scheduler.runs.isEmpty }
        for id in ids { #expect(try await manager.queries.task(id, for: ManagerFixture.caller).state == .paused) }
        gate.open()
        await manager.shutdown(.suspend)
    }
}
