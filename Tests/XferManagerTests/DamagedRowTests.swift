import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Rows that a damaged disk left unreadable.
@Suite struct DamagedRowTests {
    @Test func aDamagedTransferDoesNotHideTasksFromTheList() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).always(.drop(after: 100_000))
        var manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.retry.maxRetries = 0 }
        #expect(try await fixture.end(of: id, in: manager).state == .failed)
        await manager.shutdown(.suspend)
        try await Self.damage(fixture, "UPDATE transfer SET selecting_headers = 'x'")
        manager = try await fixture.open()
        let page = try await manager.queries.list(
            TaskQuery(), .ascending, limit: 10, cursor: nil, for: ManagerFixture.caller)
        #expect(page.tasks.map(\.id) == [id])
        #expect(try await manager.queries.resumability(of: page.tasks) == [:])
        #expect(try await manager.queries.segments(of: page.tasks) == [:])
        await manager.shutdown(.suspend)
    }

    @Test func aDamagedTaskDoesNotKeepVerbsFromOtherTasks() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        var ids: [TaskID] = []
        for name in ["a", "b", "c"] {
            ids.append(try await fixture.add("/a", as: name, to: manager, startsPaused: true))
        }
        await manager.shutdown(.suspend)
        try await Self.damage(fixture, "UPDATE task SET options = '{bad' WHERE id = \(ids[1])")
        manager = try await fixture.open()
        let all = try await manager.tasks.apply(.cancel, to: TaskQuery(), for: ManagerFixture.caller)
        #expect(all.changedCount == 3)
        let named = try await manager.tasks.apply(.remove, to: ids, for: ManagerFixture.caller)
        #expect(named.changed == ids && named.missing.isEmpty)
        #expect(try await manager.queries.counts().values.allSatisfy { $0 == 0 })
        await manager.shutdown(.suspend)
    }

    @Test func aDamagedTaskIsNamedUntilItIsCancelledAndRemoved() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        let (sound, damaged) = (
            try await fixture.add("/a", as: "a", to: manager, startsPaused: true),
            try await fixture.add("/a", as: "b", to: manager, startsPaused: true)
        )
        await manager.shutdown(.suspend)
        try await Self.damage(fixture, "UPDATE task SET options = '{bad' WHERE id = \(damaged)")
        manager = try await fixture.open()
        #expect(manager.damagedRows.isEmpty)
        let page = try await manager.queries.list(
            TaskQuery(), .ascending, limit: 10, cursor: nil, for: ManagerFixture.caller)
        #expect(page.tasks.map(\.id) == [sound] && page.unreadable == [damaged])
        #expect(manager.damagedRows == ["task \(damaged)"])
        do {
            let read = try await manager.queries.task(damaged, for: ManagerFixture.caller)
            Issue.record("a damaged row was read as \(read)")
        } catch {
            #expect(error is ManagerError)
        }
        let resumed = try await manager.tasks.apply(.resume, to: [damaged], for: ManagerFixture.caller)
        #expect(resumed.unchanged.map(\.reason) == ["damaged"])
        let early = try await manager.tasks.apply(.remove, to: [damaged], for: ManagerFixture.caller)
        #expect(early.changed.isEmpty && early.unchanged.map(\.id) == [damaged])
        let cancelled = try await manager.tasks.apply(.cancel, to: [damaged], for: ManagerFixture.caller)
        #expect(cancelled.changed == [damaged])
        let counts = try await manager.queries.counts()
        #expect(counts[.paused] == 1 && counts[.cancelled] == 1)
        #expect(manager.damagedRows == ["task \(damaged)"])
        let removed = try await manager.tasks.apply(.remove, to: [damaged], for: ManagerFixture.caller)
        #expect(removed.changed == [damaged] && manager.damagedRows.isEmpty)
        #expect(try await manager.queries.counts()[.cancelled] ?? 0 == 0)
        await manager.shutdown(.suspend)
    }

    @Test func aTaskWhoseRowIsMendedIsNoLongerNamed() {
        let rows = DamagedRows()
        #expect(rows.add(tasks: [TaskID(7), TaskID(8)]) == [.task(TaskID(7)), .task(TaskID(8))])
        #expect(rows.add(tasks: [TaskID(8), TaskID(9)]) == [.task(TaskID(9))])
        rows.remove(tasks: [TaskID(7), TaskID(8)])
        #expect(rows.all.map(\.description) == ["task 9"])
    }

    /// Further ones are returned each time, so that they are logged.
    @Test func onlyTheFirstThousandDamagedTasksAreRemembered() {
        let rows = DamagedRows()
        let last = Int64(DamagedRows.mostTasks)
        #expect(rows.add(tasks: (1...last).map { TaskID($0) }).count == DamagedRows.mostTasks)
        for _ in 0..<2 { #expect(rows.add(tasks: [TaskID(last + 1)]) == [.task(TaskID(last + 1))]) }
        #expect(rows.all.count == DamagedRows.mostTasks)
    }

    @Test func aDamagedWaitingTaskDoesNotKeepTheEndOfAnotherFromBeingRecorded() async throws {
        let fixture = try await ManagerFixture()
        for path in ["/a", "/b"] { fixture.server.on(path) { _ in .failure(503, retryAfter: "1800") } }
        var manager = try await fixture.open()
        try await manager.start()
        let damaged = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("it waits") { [manager] in
            try await manager.queries.task(damaged, for: ManagerFixture.caller).state == .waiting
        }
        await manager.shutdown(.suspend)
        try await Self.damage(fixture, "UPDATE task SET options = '{bad' WHERE id = \(damaged)")
        manager = try await fixture.open()
        try await manager.start()
        let other = try await fixture.add("/b", as: "b", to: manager)
        try await eventually("it waits") { [manager] in
            try await manager.queries.task(other, for: ManagerFixture.caller).wait?.reason == .retry
        }
        await manager.shutdown(.suspend)
    }

    @Test func damagedTasksKeepNoOthersFromStartingOrFromBeingTriedAgain() async throws {
        let fixture = try await ManagerFixture()
        let isOpen = Gate()
        for path in ["/a", "/b"] {
            fixture.server.on(path) { _ in isOpen.isOpen ? Reply(200, text: "ok") : Reply(503, text: "busy") }
        }
        fixture.server.on("/c") { _ in Reply(200, text: "ok") }
        var manager = try await fixture.open()
        try await manager.start()
        var ids: [TaskID] = []
        for (path, name) in [("/a", "a"), ("/b", "b")] {
            let id = try await fixture.add(path, as: name, to: manager)
            try await eventually("it waits") { [manager] in
                try await manager.queries.task(id, for: ManagerFixture.caller).state == .waiting
            }
            ids.append(id)
        }
        try await manager.queue.pause(stopsRunning: false)
        for name in ["c", "d"] { ids.append(try await fixture.add("/c", as: name, to: manager)) }
        await manager.shutdown(.suspend)
        isOpen.open()
        try await Self.damage(fixture, "UPDATE task SET options = '{bad' WHERE id IN (\(ids[0]), \(ids[2]))")
        manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.resume()
        for id in [ids[1], ids[3]] { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        try await eventually("the damaged tasks are paused") { [manager] in
            try await manager.queries.counts()[.paused] == 2
        }
        await manager.shutdown(.suspend)
    }

    /// Executes a statement on the database of the manager that was opened last.
    static func damage(_ fixture: ManagerFixture, _ statement: String) async throws {
        let damage = """
            import sqlite3
            with sqlite3.connect('\(fixture.lastDatabase)') as db:
                db.execute("PRAGMA ignore_check_constraints = 1")
                db.execute("\(statement)")
            """
        let damaged = try await Command.run(try #require(Command.find("python3")), ["-c", damage])
        #expect(damaged.isSuccess, "\(damaged)")
    }
}
