import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// `after_batch` and `after_group`: tasks that start when the members of a batch, or a group's tasks, have completed.
@Suite struct JoinTests {
    private static let caller = ManagerFixture.caller

    private func task(_ id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        try await manager.queries.task(id, for: Self.caller)
    }

    private func addBatch(
        _ names: [String], to manager: TransferManager, _ fixture: ManagerFixture, startsPaused: Bool = false
    ) async throws -> BatchCommands.Added {
        let tasks = names.map { name in
            var task = NewTask(url: fixture.server.url("/\(name)"))
            task.output = name
            task.paused = startsPaused
            return task
        }
        return try await manager.batches.add(
            BatchCommands.Entries(tasks: tasks, places: Array(names.indices)), BatchCommands.Options(maxActive: 3),
            TaskDefaults(directory: fixture.downloads), for: Self.caller)
    }

    private func addJoin(
        _ name: String, to manager: TransferManager, _ fixture: ManagerFixture, batch: BatchID? = nil,
        group: String? = nil, in ownGroup: String? = nil, for caller: Principal = caller
    ) async throws -> TaskID {
        try await fixture.add("/\(name)", as: name, to: manager, for: caller) {
            $0.schedule.afterBatch = batch
            $0.schedule.afterGroup = group
            $0.group = ownGroup
        }
    }

    private func drafts(
        _ count: Int, named prefix: String, _ fixture: ManagerFixture,
        _ change: @escaping @Sendable (inout TaskSchedule) -> Void
    ) -> [TaskDraft] {
        (0..<count).map { index in
            TaskDraft(url: fixture.server.url("/a")) { request in
                var specification = TaskSpecification(
                    owner: Self.caller.owner, request: request,
                    destination: Destination(directory: fixture.downloads, name: "\(prefix)\(index)"))
                change(&specification.schedule)
                return specification
            }
        }
    }

    /// Over a restart, too: the members are recorded with the task.
    @Test func aTaskAfterABatchStartsWhenTheLastMemberHasCompleted() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "b", "last", "next"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        var manager = try await fixture.open()
        try await manager.start()
        let batch = try await addBatch(["a", "b"], to: manager, fixture, startsPaused: true)
        let last = try await addJoin("last", to: manager, fixture, batch: batch.batch.id)
        #expect(try await task(last, in: manager).wait == Wait(.dependency))
        await manager.shutdown(.suspend)
        manager = try await fixture.open()
        try await manager.start()
        #expect(try await task(last, in: manager).wait == Wait(.dependency))
        _ = try await manager.tasks.apply(.resume, to: batch.ids, for: Self.caller)
        let end = try await fixture.end(of: last, in: manager)
        #expect(end.state == .completed)
        for id in batch.ids {
            let member = try await task(id, in: manager)
            #expect(try #require(member.finishedAt) <= #require(end.startedAt))
        }
        // Of a batch that has completed it need not wait.
        let next = try await addJoin("next", to: manager, fixture, batch: batch.batch.id)
        #expect(try await fixture.end(of: next, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aMemberThatEndsOtherwiseFailsTheTaskAndARetryOfBothWaitsAgain() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "last"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        let manager = try await fixture.open()
        try await manager.start()
        let batch = try await addBatch(["a", "missing"], to: manager, fixture)
        let last = try await addJoin("last", to: manager, fixture, batch: batch.batch.id)
        let failed = try await fixture.end(of: last, in: manager)
        #expect(failed.error?.reason == .dependencyFailed)
        #expect(failed.error?.message == "task \(batch.ids[1]), which had to complete first, has failed")
        fixture.server.serve("/missing", .tagged(1, length: 1000))
        _ = try await manager.tasks.apply(.retry, to: [batch.ids[1], last], for: Self.caller)
        #expect(try await fixture.end(of: last, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    /// What was there counts, however it changes; what comes later does not.
    @Test func aTaskAfterAGroupWaitsForTheTasksThatWereUnfinishedAtItsAdd() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "later", "last", "none"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        let manager = try await fixture.open()
        try await manager.start()
        // It failed before: that is over.
        let failed = try await fixture.add("/missing", as: "failed", to: manager) { $0.group = "g" }
        #expect(try await fixture.end(of: failed, in: manager).state == .failed)
        let first = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) { $0.group = "g" }
        let last = try await addJoin("last", to: manager, fixture, group: "g", in: "g")
        let later = try await fixture.add("/later", as: "later", to: manager, startsPaused: true) { $0.group = "g" }
        #expect(try await task(last, in: manager).wait == Wait(.dependency))
        _ = try await manager.tasks.update(first, .changing { $0.group = .set("h") }, for: Self.caller)
        #expect(try await task(last, in: manager).wait == Wait(.dependency))
        _ = try await manager.tasks.apply(.resume, to: [first], for: Self.caller)
        #expect(try await fixture.end(of: last, in: manager).state == .completed)
        #expect(try await task(later, in: manager).state == .paused)
        // Nothing to wait for.
        let none = try await addJoin("none", to: manager, fixture, group: "nothing")
        #expect(try await fixture.end(of: none, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aCancelledAndRemovedTargetFailsTheTaskThatWaitsForItsGroup() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let first = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) { $0.group = "g" }
        let last = try await addJoin("last", to: manager, fixture, group: "g")
        for verb in [TaskVerb.cancel, .remove] {
            _ = try await manager.tasks.apply(verb, to: [first], for: Self.caller)
        }
        #expect(try await fixture.end(of: last, in: manager).error?.reason == .dependencyFailed)
        await manager.shutdown(.suspend)
    }

    @Test func anUnknownOrForeignBatchAndACircleAreRefused() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let user = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let batch = try await addBatch(["a", "b"], to: manager, fixture, startsPaused: true)
        for id in [batch.batch.id, BatchID(4711)] {
            await #expect(throws: ManagerError.batchNotFound(id, path: "after_batch")) {
                try await addJoin("last", to: manager, fixture, batch: id, for: user)
            }
        }
        // The group of the caller's own has nothing to wait for: the other user's counts for the other user alone.
        let free = try await addJoin("last", to: manager, fixture, group: batch.batch.group, for: user)
        #expect(try await task(free, in: manager).wait == nil)
        let last = try await addJoin("last", to: manager, fixture, batch: batch.batch.id, in: "g")
        let refusal = await #expect(throws: ManagerError.self) {
            try await manager.tasks.update(
                batch.ids[0], .changing { $0.schedule.afterGroup = .set("g") }, for: Self.caller)
        }
        guard case .invalidField("changes.after_group", let reason, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(reason == "tasks would wait for each other: \(batch.ids[0]) → \(last) → \(batch.ids[0])")
        // Without the wait it starts.
        let changed = try await manager.tasks.update(
            last, .changing { $0.schedule.afterBatch = .clear }, for: Self.caller)
        #expect(changed.state == .queued && changed.specification.schedule.isEmpty)
        await manager.shutdown(.suspend)
    }

    /// A call reads up to 50,000 tasks for its joins. A batch has 10,000 at most.
    @Test func theTasksThatTheJoinsOfACallReadAreBounded() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let many = try await addBatch(
            (0..<TaskLimits.batchSize).map(String.init), to: manager, fixture, startsPaused: true)
        let one = try await addBatch(["one"], to: manager, fixture, startsPaused: true)
        let joins = TaskLimits.dependenciesOfCall / TaskLimits.batchSize
        try #require(joins * many.ids.count == TaskLimits.dependenciesOfCall)
        func drafts(_ prefix: String, _ schedule: TaskSchedule, _ count: Int) -> [TaskDraft] {
            self.drafts(count, named: prefix, fixture) { $0 = schedule }
        }
        for (name, change) in [
            ("batch", { $0.afterBatch = $1.batch.id }), ("group", { $0.afterGroup = $1.batch.group }),
        ] as [(String, (inout TaskSchedule, BatchCommands.Added) -> Void)] {
            var (afterMany, afterOne) = (TaskSchedule(), TaskSchedule())
            change(&afterMany, many)
            change(&afterOne, one)
            let before = try await manager.store.read { try $0.tasks.lastID() }
            let refusal = await #expect(throws: ManagerError.self) {
                try await manager.tasks.add(
                    drafts(name, afterMany, joins) + drafts("beyond", afterOne, 1), for: Self.caller)
            }
            guard case .limitExceeded(let reason, TaskLimits.dependenciesOfCall) = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
            #expect(reason.contains("after_batch and after_group"))
            #expect(try await manager.store.read { try $0.tasks.lastID() } == before)
            // One less, and as many as are allowed.
            let below = drafts("below", afterMany, joins - 1) + drafts("below-one", afterOne, 1)
            #expect(try await manager.tasks.add(below, for: Self.caller).count == joins)
            let added = try await manager.tasks.add(drafts(name, afterMany, joins), for: Self.caller)
            let last = try #require(added.last)
            let state = try await manager.store.read { try $0.dependencies.state(of: last.id) }
            #expect(state.openCount == many.ids.count)
            #expect(try await task(last.id, in: manager).wait == Wait(.dependency))
        }
        await manager.shutdown(.suspend)
    }

    /// `after` names up to 50,000 tasks in a call, 1,000 of them in a task.
    @Test func theTasksInAfterOfACallAreBounded() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let targets = try await addBatch(
            (0..<TaskLimits.dependencies).map(String.init), to: manager, fixture, startsPaused: true
        ).ids
        let tasks = TaskLimits.dependenciesOfCall / TaskLimits.dependencies
        func drafts(_ prefix: String, _ after: [TaskID], _ count: Int) -> [TaskDraft] {
            self.drafts(count, named: prefix, fixture) { $0.after = after }
        }
        let refusal = await #expect(throws: ManagerError.self) {
            try await manager.tasks.add(
                drafts("t", targets, tasks) + drafts("beyond", [targets[0]], 1), for: Self.caller)
        }
        #expect(
            refusal
                == .limitExceeded(
                    reason: "tasks in after of all tasks of one add", limit: TaskLimits.dependenciesOfCall))
        let added = try await manager.tasks.add(drafts("t", targets, tasks), for: Self.caller)
        #expect(added.count == tasks)
        let last = try #require(added.last)
        #expect(try await manager.store.read { try $0.dependencies.state(of: last.id) }.openCount == targets.count)
        await manager.shutdown(.suspend)
    }
}
