import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// UIView+WebCacheOperation: setting cancels the previous one, removing does not.
@Suite struct SlotTests {
    private static func user(_ uid: UInt32) -> Principal {
        Principal(owner: Owner(uid: uid), isOperator: false, roots: ["/"])
    }

    private static func terminal(_ id: TaskID, _ fixture: ManagerFixture, _ manager: TransferManager) async throws
        -> [EventType]
    {
        try await fixture.events(of: id, in: manager).filter(\.isTerminal)
    }

    enum Standing: CaseIterable { case queued, paused, waiting, running }

    @Test(arguments: Standing.allCases) func aNewTaskSupersedesTheTaskInItsSlot(standing: Standing) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        fixture.server.serve("/b", .tagged(2, length: 1000))
        fixture.server.on("/busy") { _ in Reply.failure(503, retryAfter: "3000") }
        let manager = try await fixture.open()
        try await manager.start()
        if standing == .queued { try await manager.queue.pause(stopsRunning: false) }
        let path = standing == .waiting ? "/busy" : "/a"
        let old = try await fixture.add(path, as: "a", to: manager, startsPaused: standing == .paused) { $0.slot = "s" }
        try await eventually("the old task stands as it should") {
            let task = try await manager.queries.task(old, for: ManagerFixture.caller)
            switch standing {
            case .queued: return task.state == .queued
            case .paused: return task.state == .paused
            case .waiting: return task.state == .waiting
            case .running: return await manager.queries.progress(of: [old])[old]?.received ?? 0 >= 100_000
            }
        }
        let new = try await fixture.add("/b", as: "b", to: manager) { $0.slot = "s" }
        #expect(try await manager.slots.task(in: "s", for: ManagerFixture.caller)?.id == new)
        let superseded = try await manager.queries.task(old, for: ManagerFixture.caller)
        #expect(superseded.state == .cancelled && superseded.finishedAt != nil)
        if standing == .queued { try await manager.queue.resume() }
        #expect(try await fixture.end(of: new, in: manager).state == .completed)
        #expect(try await Self.terminal(old, fixture, manager) == [.taskSuperseded])

        // One commit holds both events, and the new task's event comes first.
        guard
            case .events(let events, _) = try await manager.queries.events(since: 0, EventFilter(), limit: 1000),
            let joined = events.firstIndex(where: { $0.taskID == new && $0.type == .taskAdded })
        else {
            Issue.record("no events")
            return
        }
        #expect(events[joined + 1].payload == .taskSuperseded(by: new) && events[joined + 1].taskID == old)
        #expect(events[joined].time == events[joined + 1].time)
        // A task that has ended has left its slot.
        #expect(try await manager.slots.task(in: "s", for: ManagerFixture.caller) == nil)
        gate.open()
        try await eventually("the old one's bytes are gone") { try fixture.files() == ["b"] }
        #expect(try await fixture.events(of: old, in: manager).last == .taskSuperseded)
        await manager.shutdown(.suspend)
    }

    @Test func theLastTaskOfABatchKeepsTheSlotOfItsOwner() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let theirs = try await fixture.add("/t", as: "t", to: manager, startsPaused: true, for: Self.user(1001)) {
            $0.slot = "s"
        }
        let directory = fixture.downloads
        let drafts = (0..<5).map { index in
            TaskDraft(url: fixture.server.url("/\(index)")) { request in
                TaskSpecification(
                    owner: ManagerFixture.caller.owner, request: request,
                    destination: Destination(directory: directory, name: "\(index)"), startsPaused: true,
                    slot: index == 3 ? "other" : "s")
            }
        }
        let ids = try await manager.tasks.add(drafts, for: ManagerFixture.caller).map(\.id)
        var states: [TaskState] = []
        for id in ids { states.append(try await manager.queries.task(id, for: ManagerFixture.caller).state) }
        #expect(states == [.cancelled, .cancelled, .cancelled, .paused, .paused])
        for id in ids[..<3] {
            #expect(try await fixture.events(of: id, in: manager) == [.taskAdded, .taskSuperseded])
        }
        #expect(try await manager.slots.task(in: "s", for: ManagerFixture.caller)?.id == ids[4])
        #expect(try await manager.slots.task(in: "s", for: Self.user(1001))?.id == theirs)
        await manager.shutdown(.suspend)
    }

    @Test func aDetachedTaskContinuesAndACancelledOneEnds() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        func add() async throws -> TaskID {
            try await fixture.add("/a", as: "a", to: manager, startsPaused: true) { $0.slot = "s" }
        }
        #expect(try await manager.slots.detach(from: "s", for: caller) == nil)
        #expect(try await manager.slots.cancel(in: "s", for: caller) == nil)
        let detached = try await add()
        #expect(try await manager.slots.detach(from: "s", for: Self.user(1001)) == nil)
        #expect(try await manager.slots.detach(from: "s", for: caller)?.id == detached)
        #expect(try await manager.slots.task(in: "s", for: caller) == nil)
        let cancelled = try await add()
        #expect(try await manager.queries.task(detached, for: caller).state == .paused)
        let answer = try await manager.slots.cancel(in: "s", for: caller)
        #expect(answer?.id == cancelled && answer?.state == .cancelled)
        #expect(try await Self.terminal(cancelled, fixture, manager) == [.taskCancelled])
        #expect(try await Self.terminal(detached, fixture, manager) == [])
        await manager.shutdown(.suspend)
    }

    /// A retried task takes its slot back from the task that holds it.
    @Test func aRetriedTaskTakesItsSlotAgain() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        let failed = try await fixture.add("/gone", as: "a", to: manager) { $0.slot = "s" }
        #expect(try await fixture.end(of: failed, in: manager).state == .failed)
        let next = try await fixture.add("/a", as: "b", to: manager, startsPaused: true) { $0.slot = "s" }
        #expect(try await Self.terminal(failed, fixture, manager) == [.taskFailed])
        fixture.server.serve("/gone", .tagged(1, length: 1000))
        #expect(try await manager.tasks.apply(.retry, to: [failed], for: caller).changed == [failed])
        #expect(try await manager.queries.task(next, for: caller).state == .cancelled)
        #expect(try await Self.terminal(next, fixture, manager) == [.taskSuperseded])
        #expect(try await fixture.end(of: failed, in: manager).state == .completed)
        // One terminal event for each run.
        #expect(try await Self.terminal(failed, fixture, manager) == [.taskFailed, .taskCompleted])
        await manager.shutdown(.suspend)
    }

    @Test func aRepeatedAddLeavesTheSlotAndABlockedAddEmptiesIt() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        let keyed = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) {
            ($0.slot, $0.clientKey) = ("s", "k")
        }
        let holder = try await fixture.add("/b", as: "b", to: manager, startsPaused: true) { $0.slot = "s" }
        let again = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) {
            ($0.slot, $0.clientKey) = ("s", "k")
        }
        #expect(again == keyed)
        #expect(try await manager.slots.task(in: "s", for: caller)?.id == holder)

        _ = try await fixture.end(of: try await fixture.add("/gone", as: "g", to: manager), in: manager)
        let blocked = try await fixture.add("/gone", as: "g", to: manager) { $0.slot = "s" }
        #expect(try await manager.queries.task(blocked, for: caller).error?.reason == .blockedURL)
        #expect(try await Self.terminal(holder, fixture, manager) == [.taskSuperseded])
        #expect(try await manager.slots.task(in: "s", for: caller) == nil)
        await manager.shutdown(.suspend)
    }

    /// A user who may have one unfinished task can replace it, and cannot add another one.
    @Test func aSupersededTaskDoesNotCountAgainstTheLimit() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        var user = Self.user(1001)
        user.maxTasks = 1
        for name in ["a", "b"] {
            _ = try await fixture.add("/a", as: name, to: manager, startsPaused: true, for: user) { $0.slot = "s" }
        }
        let held = try await manager.slots.task(in: "s", for: user)
        for slot in [nil, "t"] as [String?] {
            await #expect(throws: ManagerError.tooManyTasks(of: user.owner, limit: 1)) {
                try await fixture.add("/a", as: "c", to: manager, startsPaused: true, for: user) { $0.slot = slot }
            }
        }
        #expect(try await manager.slots.task(in: "s", for: user) == held)
        await manager.shutdown(.suspend)
    }

    /// Several clients add, cancel, pause and detach at once: a slot never has two tasks, and every task ends once.
    @Test func concurrentAddsLeaveOneTaskInTheSlotAndEveryTaskEndsOnce() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<4 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 20_000)) }
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        let all = try await withThrowingTaskGroup(of: [TaskID].self) { group in
            for client in 0..<4 {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(client))
                    var mine: [TaskID] = []
                    for round in 0..<40 {
                        let slot = "slot\(Int.random(in: 0..<3, using: &random))"
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0: _ = try await manager.slots.cancel(in: slot, for: caller)
                        case 1: _ = try await manager.slots.detach(from: slot, for: caller)
                        case 2 where !mine.isEmpty:
                            let id = mine[Int.random(in: 0..<mine.count, using: &random)]
                            _ = try await manager.tasks.apply(.pause, to: [id], for: caller)
                            _ = try await manager.tasks.apply(.resume, to: [id], for: caller)
                        default:
                            mine.append(
                                try await fixture.add(
                                    "/\(Int.random(in: 0..<4, using: &random))", as: "c\(client)-\(round)", to: manager
                                ) { $0.slot = slot })
                        }
                        let holders = try await manager.store.read {
                            try $0.tasks.list(inSlot: slot, of: caller.owner).count
                        }
                        #expect(holders <= 1)
                    }
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(all.count > 60)
        for id in all {
            let task = try await fixture.end(of: id, in: manager)
            let terminal = try await Self.terminal(id, fixture, manager)
            #expect(terminal.count == 1, "\(task.state) \(terminal)")
            #expect((task.state == .completed) == (terminal == [.taskCompleted]))
        }
        await manager.shutdown(.suspend)
    }
}
