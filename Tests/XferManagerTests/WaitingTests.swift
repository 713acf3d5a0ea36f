import NIOConcurrencyHelpers
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// Calls that wait for the end of many tasks.
@Suite struct WaitingTests {
    private static let owner = Owner(uid: 1000)

    /// Adds a paused task for each of these files.
    private static func addPaused(
        _ names: [String], to manager: TransferManager, _ fixture: ManagerFixture
    ) async throws -> [TaskID] {
        var ids: [TaskID] = []
        for name in names { ids.append(try await fixture.add("/a", as: name, to: manager, startsPaused: true)) }
        return ids
    }

    private func events(_ count: Int, of task: TaskID, after seq: Int64 = 0) -> [Event] {
        (0..<count).map { number in
            Event(
                seq: seq + Int64(number) + 1, time: Timestamp(seconds: 0), taskID: task, owner: Self.owner,
                payload: .taskResumed)
        }
    }

    @Test func aTaskIsReportedOnceHoweverManyEventsConcernIt() async throws {
        let hub = EventHub(capacity: 10)
        let (one, other) = (TaskID(1), TaskID(2))
        let changed = hub.follow([one], types: nil)
        for round in 0..<1000 { hub.publish(events(100, of: one, after: Int64(round) * 100)) }
        hub.publish(events(1, of: other, after: 100_000))
        #expect(await changed.next() == [one])
        changed.follow([other])
        hub.publish(events(20, of: other, after: 100_001) + events(1, of: one, after: 100_021))
        changed.unfollow([one])
        #expect(await changed.next() == [other])
        hub.unfollow(changed)
        #expect(await changed.next() == nil)
    }

    @Test func onlyEventsOfTheWantedTypesAreReported() async throws {
        let hub = EventHub()
        let (one, other) = (TaskID(1), TaskID(2))
        let changed = hub.follow([one, other], types: [.taskCancelled])
        hub.publish(events(1, of: one))
        hub.publish([
            Event(
                seq: 2, time: Timestamp(seconds: 0), taskID: other, owner: Self.owner, payload: .taskCancelled)
        ])
        #expect(await changed.next() == [other])
        hub.unfollow(changed)
    }

    /// More events than a subscriber may leave unread.
    @Test func aWaitOutlastsAnyNumberOfEvents() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let ids = try await Self.addPaused(["a", "b", "c"], to: manager, fixture)
        let answer = Task {
            try await manager.queries.wait(
                for: ids, until: [], timeout: Double(60 * Patience.factor), for: ManagerFixture.caller)
        }
        try await eventually("it waits") { manager.hub.followers == 1 }
        for id in ids { manager.hub.publish(events(20_000, of: id, after: 1_000_000)) }
        _ = try await manager.tasks.apply(.cancel, to: ids, for: ManagerFixture.caller)
        let (tasks, isTimedOut) = try await answer.value
        #expect(!isTimedOut && tasks.map(\.id) == ids && tasks.allSatisfy { $0.state == .cancelled })
        #expect(manager.hub.followers == 0)
        await manager.shutdown(.suspend)
    }

    @Test func aWaitForTasksOfManyPagesIsAnsweredInTheirOrder() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let names = (0..<1201).map { "\($0)" }
        let wanted = Array(try await Self.addPaused(names, to: manager, fixture).reversed())
        let early = try await manager.queries.wait(for: wanted, until: [], timeout: 0, for: ManagerFixture.caller)
        #expect(early.isTimedOut && early.tasks.map(\.id) == wanted)
        let paused = try await manager.queries.wait(
            for: wanted, until: [.paused], timeout: nil, for: ManagerFixture.caller)
        #expect(!paused.isTimedOut && paused.tasks.map(\.id) == wanted)
        // One that is gone is no obstacle, and is named.
        let goal = WaitGoal(.ids(wanted + [TaskID(999_999)]), until: [.paused])
        let outcome = try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller)
        #expect(outcome.isOver && outcome.missing == [TaskID(999_999)] && outcome.tasks.map(\.id) == wanted)
        await manager.shutdown(.suspend)
    }

    /// As many as one call may name. Their rows are read for the answer alone.
    @Test func aWaitForAsManyTasksAsACallTakesIsAnsweredWhenTheLastHasEnded() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let (url, directory) = (fixture.server.url("/a"), fixture.downloads)
        let drafts = (0..<TaskCommands.largestAdd).map { number in
            TaskDraft(url: url) { request in
                TaskSpecification(
                    owner: ManagerFixture.caller.owner, request: request,
                    destination: Destination(directory: directory, name: "\(number)"), startsPaused: true)
            }
        }
        let ids = try await manager.tasks.add(drafts, for: ManagerFixture.caller).map(\.id)
        let answer = Task {
            try await manager.queries.wait(for: WaitGoal(.ids(ids)), timeout: nil, for: ManagerFixture.caller)
        }
        try await eventually("it waits") { manager.hub.followers == 1 }
        // More than one step of the service, and more events than a subscriber may leave unread.
        for part in [ids.prefix(1), ids.dropFirst().dropLast(), ids.suffix(1)] {
            #expect(manager.hub.followers == 1)
            _ = try await manager.tasks.apply(.cancel, to: Array(part), for: ManagerFixture.caller)
        }
        let outcome = try await answer.value
        #expect(outcome.isOver && outcome.open.isEmpty && outcome.missing.isEmpty)
        #expect(outcome.tasks.map(\.id) + outcome.unread == ids)
        #expect(outcome.tasks.allSatisfy { $0.state == .cancelled })
        await manager.shutdown(.suspend)
    }

    @Test func aWaitForAnyTaskIsAnsweredByTheFirstEnd() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let ids = try await Self.addPaused(["a", "b", "c"], to: manager, fixture)
        let goal = WaitGoal(.ids(ids), isAny: true)
        let early = try await manager.queries.wait(for: goal, timeout: 0, for: ManagerFixture.caller)
        #expect(!early.isOver && early.open == ids)
        let answer = Task { try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller) }
        try await eventually("it waits") { manager.hub.followers == 1 }
        _ = try await manager.tasks.apply(.cancel, to: [ids[1]], for: ManagerFixture.caller)
        let outcome = try await answer.value
        #expect(outcome.isOver && outcome.open == [ids[0], ids[2]])
        await manager.shutdown(.suspend)
    }

    @Test func aWaitByFilterIsForTheUnfinishedTasksOfTheCall() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let ids = try await Self.addPaused(["a", "b", "c"], to: manager, fixture)
        _ = try await manager.tasks.apply(.cancel, to: [ids[0]], for: ManagerFixture.caller)
        let goal = WaitGoal(.matching(TaskQuery(states: [.paused, .cancelled])))
        let answer = Task { try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller) }
        try await eventually("it waits") { manager.hub.followers == 1 }
        let later = try await fixture.add("/a", as: "d", to: manager, startsPaused: true)
        _ = try await manager.tasks.apply(.cancel, to: [ids[1], ids[2]], for: ManagerFixture.caller)
        let outcome = try await answer.value
        #expect(outcome.isOver && outcome.tasks.map(\.id) == [ids[1], ids[2]] && later > ids[2])
        // Nothing is left to wait for.
        let none = WaitGoal(.matching(TaskQuery(states: [.running])))
        #expect(try await manager.queries.wait(for: none, timeout: nil, for: ManagerFixture.caller).isOver)
        await manager.shutdown(.suspend)
    }

    @Test func waitsAreAnsweredWhenTheServiceStops() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let goal = WaitGoal(.ids([id]))
        let answer = Task { try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller) }
        try await eventually("it waits") { manager.hub.followers == 1 }
        manager.endWaits()
        await #expect(throws: ManagerError.shuttingDown) { try await answer.value }
        // A wait that begins later has the same answer, unless it has nothing to wait for.
        await #expect(throws: ManagerError.shuttingDown) {
            try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller)
        }
        let over = WaitGoal(.ids([id]), until: [.paused])
        #expect(try await manager.queries.wait(for: over, timeout: nil, for: ManagerFixture.caller).isOver)
        await manager.shutdown(.suspend)
    }

    @Test func rowsThatOneAnswerCannotHoldAreNotRead() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        // Each row has 1 MiB of text: four are as many as a page may have.
        let value = "\"" + String(repeating: "x", count: 1 << 20) + "\""
        var ids: [TaskID] = []
        for name in ["a", "b", "c", "d", "e", "f"] {
            ids.append(
                try await fixture.add("/a", as: name, to: manager, startsPaused: true) {
                    $0.meta = value
                })
        }
        let goal = WaitGoal(.ids(ids), until: [.paused])
        let outcome = try await manager.queries.wait(for: goal, timeout: nil, for: ManagerFixture.caller)
        #expect(outcome.isOver && outcome.tasks.map(\.id) == Array(ids.prefix(4)))
        #expect(outcome.unread == Array(ids.suffix(2)))
        let wait = try await manager.queries.beginWait(for: goal, timeout: nil, for: ManagerFixture.caller)
        #expect(try await wait.outcome(rows: false).tasks.isEmpty)
        wait.end()
        await manager.shutdown(.suspend)
    }

    @Test func theTasksOfAUsersWaitsAreBounded() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let caller = ManagerFixture.caller
        let most = try await manager.queries.beginWait(
            for: WaitGoal(.ids((2...WaitedTasks.maxPerUser).map { TaskID(Int64($0)) })), timeout: nil, for: caller)
        let last = try await manager.queries.beginWait(for: WaitGoal(.ids([id])), timeout: nil, for: caller)
        await #expect(throws: ManagerError.self) {
            _ = try await manager.queries.wait(for: [id], until: [.paused], timeout: nil, for: caller)
        }
        let other = Principal(owner: Owner(uid: 4711), isOperator: true, roots: ["/"])
        #expect(try await !manager.queries.wait(for: [id], until: [.paused], timeout: nil, for: other).isTimedOut)
        last.end()
        #expect(try await !manager.queries.wait(for: [id], until: [.paused], timeout: nil, for: caller).isTimedOut)
        most.end()
        await manager.shutdown(.suspend)
    }

    @Test func aTaskThatACallNamesSeveralTimesCountsOnceAndIsAnsweredAsOften() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let ids = Array(repeating: id, count: 1000)
        var waits: [PendingWait] = []
        for _ in 0...(WaitedTasks.maxPerUser / ids.count) {
            waits.append(
                try await manager.queries.beginWait(
                    for: WaitGoal(.ids(ids)), timeout: nil, for: ManagerFixture.caller))
        }
        let answer = try await manager.queries.wait(
            for: ids, until: [.paused], timeout: nil, for: ManagerFixture.caller)
        #expect(answer.tasks.map(\.id) == ids && !answer.isTimedOut)
        for wait in waits { wait.end() }
        await manager.shutdown(.suspend)
    }

    @Test func usersWhoseCallersWaitForALockEnterInTurns() async throws {
        let lock = AsyncLock()
        await lock.enter()
        let entered = NIOLockedValueBox<[String]>([])
        var callers: [Task<Void, Never>] = []
        for (name, uid) in [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2)] as [(String, UInt32)] {
            callers.append(
                Task {
                    await lock.enter(for: Owner(uid: uid))
                    entered.withLockedValue { $0.append(name) }
                    lock.leave()
                })
            try await eventually("it waits") { [count = callers.count] in lock.waitingCount == count }
        }
        lock.leave()
        for caller in callers { await caller.value }
        #expect(entered.withLockedValue(\.self) == ["a1", "b1", "a2", "b2", "a3"])
        // The lock is free.
        await lock.enter()
        lock.leave()
    }
}
