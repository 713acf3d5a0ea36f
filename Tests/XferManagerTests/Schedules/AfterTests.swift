import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// `after`: tasks that start when others have completed, and fail when one ends otherwise.
@Suite struct AfterTests {
    private static func user(_ uid: UInt32) -> Principal {
        Principal(owner: Owner(uid: uid), isOperator: false, roots: ["/"])
    }

    private func task(_ id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        try await manager.queries.task(id, for: ManagerFixture.caller)
    }

    private func fails(_ id: TaskID, in manager: TransferManager) async throws -> TransferError {
        try await eventually("task \(id) has failed") {
            let task = try await task(id, in: manager)
            return task.state == .failed ? task.error : nil
        }
    }

    private func add(
        _ name: String, after: [TaskID], to manager: TransferManager, _ fixture: ManagerFixture,
        startsPaused: Bool = false, for caller: Principal = ManagerFixture.caller
    ) async throws -> TaskID {
        try await fixture.add("/\(name)", as: name, to: manager, startsPaused: startsPaused, for: caller) {
            $0.schedule.after = after
        }
    }

    @Test func theTasksThatOneCallNamesInAfterAreBounded() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let directory = fixture.downloads
        let url = fixture.server.url("/a")
        func drafts(_ count: Int, after: [TaskID]) -> [TaskDraft] {
            (0..<count).map { index in
                TaskDraft(url: url) { request in
                    var specification = TaskSpecification(
                        owner: ManagerFixture.caller.owner, request: request,
                        destination: Destination(directory: directory, name: "\(index)"), startsPaused: true)
                    specification.schedule.after = after
                    return specification
                }
            }
        }
        let targets = try await manager.tasks.add(drafts(1000, after: []), for: ManagerFixture.caller).map(\.id)
        let added = try await manager.tasks.add(drafts(50, after: targets), for: ManagerFixture.caller)
        #expect(added.count == 50)
        await #expect(throws: ManagerError.self) {
            _ = try await manager.tasks.add(
                drafts(50, after: targets) + drafts(1, after: [targets[0]]), for: ManagerFixture.caller)
        }
        // The targets end one by one; the dependents are released with the last.
        _ = try await manager.tasks.apply(.cancel, to: [added[0].id], for: ManagerFixture.caller)
        #expect(try await manager.store.read { try $0.dependencies.hasOpenTargets(added[1].id) })
        await manager.shutdown(.suspend)
    }

    @Test func aChainRunsInItsOrder() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "b", "c"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let a = try await add("a", after: [], to: manager, fixture)
        let b = try await add("b", after: [a], to: manager, fixture)
        let c = try await add("c", after: [a, b], to: manager, fixture)
        for id in [b, c] { #expect(try await task(id, in: manager).wait == Wait(.dependency)) }
        #expect(try await manager.tasks.apply(.resume, to: [b], for: ManagerFixture.caller).changed.isEmpty)
        try await manager.queue.resume()
        #expect(try await fixture.end(of: c, in: manager).state == .completed)
        let ends = try await [a, b, c].asyncMap { try await task($0, in: manager) }
        #expect(ends.allSatisfy { $0.state == .completed })
        #expect(try zip(ends, ends.dropFirst()).allSatisfy { try #require($0.finishedAt) <= #require($1.startedAt) })
        await manager.shutdown(.suspend)
    }

    /// However the target ends, the whole chain fails, paused tasks too, each with one event.
    @Test(arguments: [TaskVerb.cancel, nil]) func aFailurePropagatesAlongTheChain(verb: TaskVerb?) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/a") { _ in Reply.failure(404) }
        let manager = try await fixture.open()
        try await manager.start()
        let a = try await add("a", after: [], to: manager, fixture, startsPaused: true)
        let b = try await add("b", after: [a], to: manager, fixture)
        let c = try await add("c", after: [b], to: manager, fixture, startsPaused: true)
        let other = try await add("d", after: [], to: manager, fixture, startsPaused: true)
        _ = try await manager.tasks.apply(verb ?? .resume, to: [a], for: ManagerFixture.caller)
        let error = try await fails(b, in: manager)
        #expect(error.reason == .dependencyFailed)
        #expect(
            error.message == "task \(a), which had to complete first, has \(verb == nil ? "failed" : "been cancelled")")
        #expect(try await fails(c, in: manager).message.hasPrefix("task \(b),") == true)
        for id in [b, c] {
            #expect(try await fixture.events(of: id, in: manager).filter(\.isTerminal) == [.taskFailed])
        }
        #expect(try await task(other, in: manager).state == .paused)
        await manager.shutdown(.suspend)
    }

    /// A task that was tried again and completed lets its dependents be tried again, too.
    @Test func aRetriedTargetThatCompletesLetsItsDependentsBeRetried() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "b"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        let manager = try await fixture.open()
        try await manager.start()
        let a = try await fixture.add("/missing", as: "a", to: manager)
        let b = try await add("b", after: [a], to: manager, fixture)
        _ = try await fails(b, in: manager)
        // While it has failed, another try fails, too.
        _ = try await manager.tasks.apply(.retry, to: [b], for: ManagerFixture.caller)
        try await eventually("it failed twice") {
            try await fixture.events(of: b, in: manager).filter { $0 == .taskFailed }.count == 2
        }
        fixture.server.serve("/missing", .tagged(1, length: 1000))
        try await manager.queue.pause(stopsRunning: false)
        _ = try await manager.tasks.apply(.retry, to: [a, b], for: ManagerFixture.caller)
        try await eventually("it waits") { try await task(b, in: manager).wait == Wait(.dependency) }
        try await manager.queue.resume()
        #expect(try await fixture.end(of: b, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    /// The store remembers the outcome of a removed task, over a restart too.
    @Test func theOutcomeOfARemovedTargetIsRememberedAcrossARestart() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "b", "c"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        var manager = try await fixture.open()
        try await manager.start()
        let a = try await add("a", after: [], to: manager, fixture, startsPaused: true)
        let b = try await add("b", after: [], to: manager, fixture)
        let c = try await add("c", after: [a, b], to: manager, fixture)
        #expect(try await fixture.end(of: b, in: manager).state == .completed)
        try await eventually("the dependent has the outcome") {
            try await manager.store.read { try $0.dependencies.state(of: c).openCount } == 1
        }
        _ = try await manager.tasks.apply(.remove, to: [b], for: ManagerFixture.caller)
        await manager.shutdown(.suspend)
        manager = try await fixture.open()
        try await manager.start()
        #expect(try await task(c, in: manager).wait == Wait(.dependency))
        _ = try await manager.tasks.apply(.resume, to: [a], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: c, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func anUnknownForeignOrCyclicTargetIsRefused() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let mine = try await add("a", after: [], to: manager, fixture, startsPaused: true, for: Self.user(1001))
        let theirs = try await add("b", after: [], to: manager, fixture, startsPaused: true, for: Self.user(1002))
        for id in [theirs, TaskID(4711)] {
            await #expect(throws: ManagerError.dependencyNotFound(id, path: "after[1]")) {
                try await add("c", after: [mine, id], to: manager, fixture, for: Self.user(1001))
            }
        }
        func update(_ id: TaskID, after: [TaskID]) async throws -> TransferTask {
            try await manager.tasks.update(id, .changing { $0.after = .set(after) }, for: ManagerFixture.caller)
        }
        let second = try await add("d", after: [mine], to: manager, fixture)
        let third = try await add("e", after: [second], to: manager, fixture)
        for (id, targets, reason) in [
            (mine, [mine], "task \(mine) cannot wait for itself"),
            (mine, [second], "tasks would wait for each other: \(mine) → \(second) → \(mine)"),
            (mine, [theirs, third], "tasks would wait for each other: \(mine) → \(third) → \(second) → \(mine)"),
        ] {
            let refusal = await #expect(throws: ManagerError.self) { try await update(id, after: targets) }
            guard case .invalidField(let path, reason, _) = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
            #expect(path.hasPrefix("changes.after"))
        }
        #expect(try await task(mine, in: manager).specification.schedule.after.isEmpty)
        // Changed for good: what it waited for no longer counts.
        #expect(try await update(third, after: [theirs]).wait == Wait(.dependency))
        #expect(try await update(third, after: []).state == .queued)
        await manager.shutdown(.suspend)
    }

    /// Within one call tasks can be named by how far before they stand.
    @Test func tasksOfOneCallMayDependOnEachOther() async throws {
        let fixture = try await ManagerFixture()
        for name in ["0", "1", "2"] { fixture.server.serve("/\(name)", .tagged(1, length: 1000)) }
        let manager = try await fixture.open()
        try await manager.start()
        func drafts(_ after: [[Int64]]) -> [TaskDraft] {
            let (server, directory) = (fixture.server, fixture.downloads)
            return (0..<after.count).map { index in
                TaskDraft(url: server.url("/\(index)")) { request in
                    var specification = TaskSpecification(
                        owner: Owner(uid: 0), request: request,
                        destination: Destination(directory: directory, name: "\(index)"))
                    specification.schedule.after = after[index].map { TaskID($0) }
                    return specification
                }
            }
        }
        let added = try await manager.tasks.add(drafts([[], [-1], [-1, -2]]), for: ManagerFixture.caller).map(\.id)
        #expect(try await task(added[2], in: manager).specification.schedule.after == [added[1], added[0]])
        #expect(try await fixture.end(of: added[2], in: manager).state == .completed)
        let refusal = await #expect(throws: ManagerError.self) {
            try await manager.tasks.add(drafts([[], [-2]]), for: ManagerFixture.caller, path: { "tasks[\($0)]." })
        }
        guard case .invalidField("tasks[1].after[0]", _, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        await manager.shutdown(.suspend)
    }

    /// A target with many dependents, and a long chain, in small steps.
    @Test(arguments: [true, false]) func thousandsOfDependentsEndInSmallSteps(isChain: Bool) async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let first = try await add("a", after: [], to: manager, fixture, startsPaused: true)
        let (url, directory) = (fixture.server.url("/x"), fixture.downloads)
        let drafts = (0..<3000).map { index in
            TaskDraft(url: url) { request in
                var specification = TaskSpecification(
                    owner: Owner(uid: 0), request: request, destination: Destination(directory: directory))
                specification.schedule.after = [isChain && index > 0 ? TaskID(-1) : first]
                return specification
            }
        }
        _ = try await manager.tasks.add(drafts, for: ManagerFixture.caller)
        #expect(try await manager.store.read { try $0.counts.byState() } == [.waiting: 3000, .paused: 1])
        _ = try await manager.tasks.apply(.cancel, to: [first], for: ManagerFixture.caller)
        try await eventually("all have failed", within: Patience.long) {
            try await manager.store.read { try $0.counts.byState() } == [.failed: 3000, .cancelled: 1]
        }
        try await eventually("all dependents have the outcome") {
            try await manager.store.read { try $0.dependencies.nextEndedTarget() } == nil
        }
        await manager.shutdown(.suspend)
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
