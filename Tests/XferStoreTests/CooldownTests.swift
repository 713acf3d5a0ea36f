import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Cooldowns of hosts end with what caused them.
struct CooldownTests {
    private static let host = "a.example"

    @Test(arguments: TaskState.allCases) func aCooldownEndsWhenItsTaskWasCancelledOrHasCompleted(
        state: TaskState
    ) async throws {
        try await withStore { store in
            let until = noon.advanced(by: .seconds(60))
            try await store.write { transaction throws in
                var task = try #require(
                    try transaction.add(1, to: Self.host).first.flatMap { try transaction.tasks.find($0) })
                task.state = .waiting
                task.wait = Wait(.retry, until: until)
                try transaction.tasks.update(task)
                let cause = HostCooldown.Cause(task)
                try transaction.cooldowns.set(host: Self.host, until: until, cause: cause)
                #expect(
                    try transaction.cooldowns.find(of: Self.host)
                        == HostCooldown(host: Self.host, until: until, cause: cause))
                #expect(try transaction.cooldowns.due(now: noon).isEmpty)
                #expect(try transaction.cooldowns.due(now: until).map(\.host) == [Self.host])
                task.state = state
                task.wait = state == .waiting ? Wait(.retry, until: until) : nil
                try transaction.tasks.update(task)
                let ends = [.cancelled, .completed].contains(state)
                let due = ends ? [HostCooldown(host: Self.host, until: HostCooldown.over)] : []
                #expect(try transaction.cooldowns.due(now: noon) == due)
                guard state.isTerminal else { return }
                try transaction.tasks.delete(task.id)
                #expect(try transaction.cooldowns.due(now: noon).map(\.until) == [HostCooldown.over])
            }
        }
    }

    @Test func onlyWaitingTasksForOtherURLsAreFoundAsRefused() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let tasks = try (0..<4).map { index in
                    try transaction.tasks.insert(
                        specification(Self.host, path: "/\(index)"), state: .queued, at: noon)
                }
                let until = noon.advanced(by: .seconds(60))
                for (index, wait) in [Wait(.retry, until: until), Wait(.retry, until: noon), Wait(.network)]
                    .enumerated()
                {
                    var task = tasks[index + 1]
                    task.state = .waiting
                    task.wait = wait
                    task.error = TransferError(.httpStatus, "busy", isRetriable: true, httpStatus: 503)
                    try transaction.tasks.update(task)
                }
                let asked = tasks[0].specification.request.url
                func refused(_ url: HTTPURL, ofOthersThan owner: Owner? = nil) throws(StoreError) -> [TaskID] {
                    try transaction.cooldowns.refusedTasks(
                        by: url.hostKey, besides: url, ofOthersThan: owner, after: noon
                    ).map(\.id)
                }
                #expect(try refused(asked) == [tasks[1].id])
                #expect(try refused(asked, ofOthersThan: tasks[1].owner).isEmpty)
                #expect(try refused(asked, ofOthersThan: Owner(uid: 1)) == [tasks[1].id])
                #expect(try transaction.cooldowns.refusedTasks(by: Self.host, after: noon).map(\.id) == [tasks[1].id])
                // Of the same URL, and of another host.
                let same = tasks[1].specification.request.url
                #expect(try refused(same).isEmpty)
                let other = HTTPURL(scheme: .https, host: "b.example", port: 443, target: asked.target)
                #expect(try refused(other).isEmpty)
            }
        }
    }

    @Test func tasksOfTheSameURLOrWithOtherFailuresHideNoRefusedOne() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                func wait(_ path: String, _ status: Int, _ seconds: Int64) throws(StoreError) -> TransferTask {
                    var task = try transaction.tasks.insert(
                        specification(Self.host, path: path), state: .queued, at: noon)
                    task.state = .waiting
                    task.wait = Wait(.retry, until: noon.advanced(by: .seconds(seconds)))
                    task.error = TransferError(.httpStatus, "no", isRetriable: true, httpStatus: status)
                    try transaction.tasks.update(task)
                    return task
                }
                let asked = try wait("/same", 503, 100)
                for index in 0..<70 {
                    _ = try wait("/same", 503, Int64(200 + index))
                    _ = try wait("/\(index)", 500, Int64(300 + index))
                }
                let other = try wait("/other", 429, 50)
                let url = asked.specification.request.url
                #expect(
                    try transaction.cooldowns.refusedTasks(by: Self.host, besides: url, after: noon).map(\.id) == [
                        other.id
                    ])
            }
        }
    }

    @Test func anUnreadableWaitingTaskIsLeftOut() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        let ids = try await store.write { transaction throws in
            try (0..<4).map { index in
                var task = try transaction.tasks.insert(
                    specification(Self.host, path: "/\(index)"), state: .queued, at: noon)
                task.state = .waiting
                task.wait = Wait(.retry, until: noon.advanced(by: .seconds(60)))
                task.error = TransferError(.httpStatus, "busy", isRetriable: true, httpStatus: 429)
                try transaction.tasks.update(task)
                return task.id
            }
        }
        try store.close()
        try directory.execute(
            """
            PRAGMA ignore_check_constraints = 1;
            UPDATE task SET options = '{bad' WHERE id = \(ids[0]);
            UPDATE task SET error = '{bad' WHERE id = \(ids[1]);
            UPDATE task SET priority = 99 WHERE id = \(ids[2]);
            """)
        store = try directory.open()
        let refused = try await store.read { try $0.cooldowns.refusedTasks(by: Self.host, after: noon).map(\.id) }
        #expect(refused == [ids[3]])
        try store.close()
    }

    @Test func aCooldownEndsWhenItsTaskIsAmongManyThatAreCancelledOrRemoved() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let until = noon.advanced(by: .seconds(60))
                let ids = try transaction.add(10, to: Self.host)
                let task = try #require(try transaction.tasks.find(ids[4]))
                func cool() throws(StoreError) {
                    try transaction.cooldowns.set(host: Self.host, until: until, cause: HostCooldown.Cause(task))
                }
                try cool()
                let outlines = try transaction.tasks.outlines(of: ids).values.sorted { $0.id < $1.id }
                try transaction.tasks.move(outlines, to: .paused, finishedAt: nil)
                #expect(try transaction.cooldowns.due(now: noon).isEmpty)
                try transaction.tasks.move(
                    try transaction.tasks.outlines(of: ids).values.sorted { $0.id < $1.id }, to: .cancelled,
                    finishedAt: noon)
                #expect(try transaction.cooldowns.due(now: noon).map(\.host) == [Self.host])
                try cool()
                #expect(try transaction.cooldowns.due(now: noon).isEmpty)
                try transaction.tasks.delete(try transaction.tasks.outlines(of: ids).values.sorted { $0.id < $1.id })
                #expect(try transaction.cooldowns.due(now: noon).map(\.host) == [Self.host])
            }
        }
    }

    @Test func anEndThatWasRolledBackEndsTheCooldownWhenItIsRepeated() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let until = noon.advanced(by: .seconds(60))
            let id = try await store.write { transaction throws in
                let task = try #require(
                    try transaction.add(1, to: Self.host).first.flatMap { try transaction.tasks.find($0) })
                try transaction.cooldowns.set(host: Self.host, until: until, cause: HostCooldown.Cause(task))
                return task.id
            }
            // Within the change-set that fails, no host cools down.
            await #expect(throws: Refused.self) {
                try await store.write { transaction throws in
                    try transaction.cooldowns.set(host: Self.host, until: nil)
                    try transaction.tasks.delete(id)
                    throw Refused()
                }
            }
            try await store.write { try $0.tasks.delete(id) }
            #expect(try await store.read { try $0.cooldowns.due(now: noon).map(\.host) } == [Self.host])
        }
    }
}
