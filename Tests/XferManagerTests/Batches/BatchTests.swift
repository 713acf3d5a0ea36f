import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// SDWebImagePrefetcher: its own concurrency, low priority, counts of finished and skipped.
@Suite struct BatchTests {
    private static let caller = ManagerFixture.caller

    private static func add(
        _ urls: [String], _ options: BatchCommands.Options = BatchCommands.Options(maxActive: 3),
        to manager: TransferManager, _ fixture: ManagerFixture, for principal: Principal = caller, slot: String? = nil
    ) async throws -> BatchCommands.Added {
        let tasks = urls.enumerated().map { index, url in
            var task = NewTask(url: url)
            task.output = "file\(index)"
            task.priority = .low
            task.slot = slot
            return task
        }
        return try await manager.batches.add(
            BatchCommands.Entries(tasks: tasks, places: Array(urls.indices)), options,
            TaskDefaults(directory: fixture.downloads), for: principal)
    }

    private static func completed(_ id: BatchID, _ manager: TransferManager) async throws -> Batch {
        try await eventually("the batch has completed") {
            let batch = try await manager.batches.get(id, for: caller)
            return batch.completedAt == nil ? nil : batch
        }
    }

    private static func endings(_ manager: TransferManager) async throws -> [EventType] {
        guard case .events(let events, _) = try await manager.queries.events(since: 0, EventFilter(), limit: 1000)
        else {
            return []
        }
        return events.map(\.type).filter { [.batchCompleted, .queueIdle].contains($0) }
    }

    @Test func twoFailuresOfFiveTasksEndTheBatchAndLeaveTheGlobalLimit() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        for index in [0, 2, 4, 5, 6, 7] {
            fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 20_000)).always(
                .stall(at: 10_000, until: gate))
        }
        let manager = try await fixture.open()
        try await manager.start()
        let added = try await Self.add((0..<5).map { fixture.server.url("/\($0)") }, to: manager, fixture)
        #expect(added.ids.count == 5 && added.refusals.isEmpty && added.batch.total == 5)
        let group = GroupKey(owner: Self.caller.owner, name: added.batch.group)
        // 1 and 3 fail at once; then three run, and slots are left for others.
        try await eventually("three run") { await manager.scheduler.machine.activeCount(of: group) == 3 }
        var others: [TaskID] = []
        for index in 5..<8 { others.append(try await fixture.add("/\(index)", as: "o\(index)", to: manager)) }
        try await eventually("six run") { await manager.scheduler.machine.activeCount == 6 }
        #expect(try await manager.queue.stats(for: Self.caller).limits.maxActive == 6)
        gate.open()
        let batch = try await Self.completed(added.batch.id, manager)
        #expect(batch.finished == 5 && batch.skipped == 2)
        #expect(batch.counts == [.completed: 3, .failed: 2])
        for id in others { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(try await manager.queries.task(added.ids[0], for: Self.caller).batchID == batch.id)
        #expect(try await Self.endings(manager).count { $0 == .batchCompleted } == 1)
        await manager.shutdown(.suspend)
    }

    @Test func aBatchCompletesBeforeTheQueueIsIdle() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<4 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 100)) }
        let manager = try await fixture.open()
        try await manager.start()
        let added = try await Self.add((0..<4).map { fixture.server.url("/\($0)") }, to: manager, fixture)
        _ = try await Self.completed(added.batch.id, manager)
        #expect(try await Self.endings(manager) == [.batchCompleted, .queueIdle])
        await manager.shutdown(.suspend)
    }

    /// Its concurrency is its own: with 1, they run one after another, in their order.
    @Test func aBatchOfOneAtATimeKeepsItsOrder() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<6 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 5000)) }
        let manager = try await fixture.open()
        try await manager.start()
        let added = try await Self.add(
            (0..<6).map { fixture.server.url("/\($0)") }, BatchCommands.Options(maxActive: 1), to: manager,
            fixture)
        _ = try await Self.completed(added.batch.id, manager)
        #expect(fixture.server.requests.map(\.path) == (0..<6).map { "/\($0)" })
        await manager.shutdown(.suspend)
    }

    /// A file that one of two entries replaces is refused to the later one, whichever replaces it.
    @Test(arguments: [
        (ConflictPolicy.rename, ConflictPolicy.overwrite, true), (.overwrite, .rename, true), (.verify, .verify, true),
        (.rename, .rename, false), (.skip, .fail, false), (.fail, .fail, false),
    ])
    func twoSourcesOfOneFileAreRefusedIfItIsReplaced(
        first: ConflictPolicy, second: ConflictPolicy, isRefused: Bool
    ) async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let tasks = [first, second].enumerated().map { index, policy in
            var task = NewTask(url: fixture.server.url("/\(index)"))
            task.output = "x"
            task.destination.onConflict = .set(policy)
            return task
        }
        let added = try await manager.batches.add(
            BatchCommands.Entries(tasks: tasks, places: [0, 1]), BatchCommands.Options(maxActive: 3),
            TaskDefaults(directory: fixture.downloads), for: Self.caller)
        #expect(added.refusals.map(\.index) == (isRefused ? [1] : []) && added.ids.count == (isRefused ? 1 : 2))
        await manager.shutdown(.suspend)
    }

    @Test func aBadEntryIsReportedAndStopsNothingUnlessTheBatchIsAtomic() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 100))
        let manager = try await fixture.open()
        try await manager.start()
        let urls = [fixture.server.url("/a"), "mailto:somebody", fixture.server.url("/b"), "http://"]
        await #expect {
            try await Self.add(
                urls, BatchCommands.Options(maxActive: 3, isAtomic: true), to: manager, fixture)
        } throws: { error in
            guard case ManagerError.invalidField(path: "tasks[1].url", _, _) = error else { return false }
            return true
        }
        #expect(try await manager.queries.counts().isEmpty)
        let added = try await Self.add(urls, to: manager, fixture)
        #expect(added.refusals.map(\.index) == [1, 3] && added.ids.count == 2 && added.batch.total == 2)
        let batch = try await Self.completed(added.batch.id, manager)
        #expect(batch.finished == 2 && batch.skipped == 1)

        // All bad: nothing to wait for.
        let empty = try await Self.add(["", "nonsense"], to: manager, fixture)
        #expect(empty.batch.total == 0 && empty.batch.completedAt != nil && empty.refusals.map(\.index) == [0, 1])
        await manager.shutdown(.suspend)
    }

    @Test func aCancelledOrSupersededMemberCountsAsFinished() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let urls = (0..<3).map { fixture.server.url("/\($0)") }
        // Each takes the slot of the one before.
        let added = try await Self.add(urls, to: manager, fixture, slot: "s")
        #expect(added.batch.finished == 2 && added.batch.completedAt == nil)
        _ = try await manager.tasks.apply(.cancel, to: added.ids, for: Self.caller)
        let batch = try await Self.completed(added.batch.id, manager)
        #expect(batch.finished == 3 && batch.skipped == 0 && batch.counts == [.cancelled: 3])
        _ = try await manager.tasks.apply(.remove, to: added.ids, for: Self.caller)
        #expect(try await manager.batches.get(batch.id, for: Self.caller).finished == 3)
        #expect(try await Self.endings(manager).count { $0 == .batchCompleted } == 1)
        await manager.shutdown(.suspend)
    }

    @Test func aRepeatedAddFindsItsBatchAndOtherUsersDoNotSeeIt() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        var options = BatchCommands.Options(maxActive: 3, clientKey: "k", requestText: "these")
        let urls = [fixture.server.url("/a"), "nonsense"]
        let first = try await Self.add(urls, options, to: manager, fixture)
        let again = try await Self.add(urls, options, to: manager, fixture)
        #expect(again.isExisting && !first.isExisting)
        #expect(again.ids == first.ids && again.batch == first.batch && again.refusals.map(\.index) == [1])
        #expect(try await manager.queries.counts() == [.queued: 1])
        options.requestText = "others"
        await #expect(throws: ManagerError.batchKeyReused(existing: first.batch.id)) {
            try await Self.add(urls, options, to: manager, fixture)
        }
        var user = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        await #expect(throws: ManagerError.batchNotFound(first.batch.id)) {
            try await manager.batches.get(first.batch.id, for: user)
        }
        // A limit refuses the whole of it, and nothing is left behind.
        user.maxTasks = 1
        await #expect(throws: ManagerError.tooManyTasks(of: user.owner, limit: 1)) {
            try await Self.add(
                [fixture.server.url("/b"), fixture.server.url("/c")], to: manager, fixture, for: user)
        }
        #expect(try await manager.groups.list(after: nil, limit: 9, for: Self.caller).count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func aBatchContinuesAfterARestartAndARetryDoesNotCompleteItTwice() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<6 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 5000)) }
        var manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let added = try await Self.add(
            (0..<6).map { fixture.server.url("/\($0)") } + [fixture.server.url("/gone")], to: manager, fixture)
        await manager.shutdown(.suspend)
        manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.resume()
        var batch = try await Self.completed(added.batch.id, manager)
        #expect(batch.finished == 7 && batch.skipped == 1)
        fixture.server.serve("/gone", .tagged(9, length: 10))
        let last = try #require(added.ids.last)
        _ = try await manager.tasks.apply(.retry, to: [last], for: Self.caller)
        #expect(try await fixture.end(of: last, in: manager).state == .completed)
        batch = try await manager.batches.get(batch.id, for: Self.caller)
        #expect(batch.finished == 7 && batch.skipped == 0)
        #expect(try await Self.endings(manager).count { $0 == .batchCompleted } == 1)
        await manager.shutdown(.suspend)
    }
}
