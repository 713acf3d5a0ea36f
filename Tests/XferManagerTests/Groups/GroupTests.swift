import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Groups of tasks that really run.
@Suite struct GroupTests {
    private static let caller = ManagerFixture.caller
    private static let key = GroupKey(owner: caller.owner, name: "g")

    private static func state(_ id: TaskID, _ manager: TransferManager) async throws -> TaskState {
        try await manager.queries.task(id, for: caller).state
    }

    @Test func aPausedGroupStartsNothingEvenAfterARestartAndOtherGroupsContinue() async throws {
        let fixture = try await ManagerFixture()
        for path in ["/a", "/b", "/c"] { fixture.server.serve(path, .tagged(1, length: 1000)) }
        var manager = try await fixture.open()
        try await manager.start()
        let paused = try await manager.groups.pause("g", of: nil, stopsRunning: false, for: Self.caller)
        #expect(paused == TaskGroup(key: Self.key, isPaused: true))
        let held = try await fixture.add("/a", as: "a", to: manager) { ($0.group, $0.priority) = ("g", .high) }
        let free = try await fixture.add("/b", as: "b", to: manager) { $0.group = "other" }
        #expect(try await fixture.end(of: free, in: manager).state == .completed)
        #expect(try await Self.state(held, manager) == .queued)
        await manager.shutdown(.suspend)

        manager = try await fixture.open()
        try await manager.start()
        let other = try await fixture.add("/c", as: "c", to: manager)
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        #expect(try await Self.state(held, manager) == .queued)
        #expect(try await manager.groups.get("g", of: nil, for: Self.caller).counts == [.queued: 1])
        _ = try await manager.groups.resume("g", of: nil, for: Self.caller)
        #expect(try await fixture.end(of: held, in: manager).state == .completed)
        #expect(fixture.server.requests.map(\.path) == ["/b", "/c", "/a"])
        await manager.shutdown(.suspend)
    }

    /// `running: true`: what runs goes back to the queue and later goes on with the bytes it has.
    @Test func runningTasksOfAGroupCanBeRequeuedAndContinueAtTheirOffset() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        fixture.server.serve("/b", .tagged(2, length: 300_000)).always(.stall(at: 100_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        let mine = try await fixture.add("/a", as: "a", to: manager) { $0.group = "g" }
        let other = try await fixture.add("/b", as: "b", to: manager)
        for id in [mine, other] {
            try await eventually("bytes are there") {
                await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
            }
        }
        _ = try await manager.groups.pause("g", of: nil, stopsRunning: true, for: Self.caller)
        try await eventually("it is queued again") { try await Self.state(mine, manager) == .queued }
        #expect(try await Self.state(other, manager) == .running)
        #expect(try await manager.queries.task(mine, for: Self.caller).received == 100_000)
        // Neither paused nor resumed: it is the group that is.
        #expect(try await !fixture.events(of: mine, in: manager).contains(.taskPaused))
        gate.open()
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        _ = try await manager.groups.resume("g", of: nil, for: Self.caller)
        #expect(try await fixture.end(of: mine, in: manager).state == .completed)
        #expect(fixture.server.requests(to: "/a").last?.header("Range") == "bytes=100000-")
        await manager.shutdown(.suspend)
    }

    @Test func aGroupsLimitLeavesFreeSlotsToOtherGroups() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        for index in 0..<8 {
            fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 20_000)).always(
                .stall(at: 10_000, until: gate))
        }
        let manager = try await fixture.open(change: { $0.maxActive = 4 })
        try await manager.start()
        _ = try await manager.groups.setLimits(ofGroup: "g", of: nil, for: Self.caller) { $0.maxActive = 2 }
        var ids: [TaskID] = []
        for index in 0..<4 {
            ids.append(try await fixture.add("/\(index)", as: "\(index)", to: manager) { $0.group = "g" })
        }
        for index in 4..<8 { ids.append(try await fixture.add("/\(index)", as: "\(index)", to: manager)) }
        try await eventually("four run") { await manager.scheduler.machine.activeCount == 4 }
        #expect(await manager.scheduler.machine.activeCount(of: Self.key) == 2)
        // What runs and is put into another group counts there.
        _ = try await manager.tasks.update(ids[0], .changing { $0.group = .clear }, for: Self.caller)
        #expect(await manager.scheduler.machine.activeCount(of: Self.key) == 1)
        gate.open()
        for id in ids { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(try await manager.groups.reset("g", of: nil, for: Self.caller))
        #expect(try await manager.groups.list(after: nil, limit: 9, for: Self.caller).map(\.limits.maxActive) == [nil])
        await manager.shutdown(.suspend)
    }

    /// Joining a transfer takes no slot, yet a task of a paused group does not even join.
    @Test func aTaskOfAPausedGroupDoesNotJoinATransferThatRuns() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 20_000)).always(.stall(at: 10_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        let first = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("it runs") { try await Self.state(first, manager) == .running }
        _ = try await manager.groups.pause("g", of: nil, stopsRunning: false, for: Self.caller)
        let held = try await fixture.add("/a", as: "b", to: manager) { $0.group = "g" }
        let joins = try await fixture.add("/a", as: "c", to: manager) { $0.group = "h" }
        try await eventually("it joined") { try await Self.state(joins, manager) == .running }
        #expect(try await Self.state(held, manager) == .queued)
        _ = try await manager.groups.resume("g", of: nil, for: Self.caller)
        try await eventually("it joined, too") { try await Self.state(held, manager) == .running }
        gate.open()
        for id in [first, held, joins] { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func everyUserHasGroupsOfTheirOwnAndOperatorsMayNameOthers() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let user = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        _ = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) { $0.group = "g" }
        let theirs = try await fixture.add("/a", as: "b", to: manager, startsPaused: true, for: user) { $0.group = "g" }
        _ = try await manager.groups.pause("g", of: nil, stopsRunning: false, for: user)
        #expect(try await manager.groups.get("g", of: nil, for: Self.caller).isPaused == false)
        #expect(try await manager.groups.get("g", of: user.owner, for: Self.caller).isPaused)
        #expect(try await manager.groups.list(after: nil, limit: 9, for: user).map(\.key.owner) == [user.owner])
        #expect(try await manager.groups.list(after: nil, limit: 9, for: Self.caller).count == 2)
        await #expect(throws: ManagerError.groupNotFound("g")) {
            try await manager.groups.pause("g", of: Self.caller.owner, stopsRunning: true, for: user)
        }
        await #expect(throws: ManagerError.groupNotFound("none")) {
            try await manager.groups.get("none", of: nil, for: Self.caller)
        }
        _ = try await manager.groups.resume("g", of: user.owner, for: Self.caller)
        #expect(
            try await manager.groups.get("g", of: nil, for: user)
                == TaskGroup(
                    key: GroupKey(owner: user.owner, name: "g"), counts: [.paused: 1]))
        _ = try await manager.tasks.apply(.cancel, to: [theirs], for: user)
        await manager.shutdown(.suspend)
    }
}
