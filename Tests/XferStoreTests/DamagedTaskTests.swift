import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Rows of tasks that a damaged disk left unreadable, beside rows that are sound.
struct DamagedTaskTests {
    private static let until = noon.advanced(by: .seconds(60))

    /// A store with four tasks: one queued, three that wait. The rows of the second and the third are unreadable.
    private func damaged(_ directory: StoreDirectory) async throws -> TaskStore {
        let store = try directory.open()
        try await store.write { transaction throws in
            for index in 0..<4 {
                var task = try transaction.tasks.insert(
                    specification("a.example", path: "/\(index)"), state: .queued, at: noon)
                guard index > 0 else { continue }
                task.state = .waiting
                task.wait = Wait(.retry, until: Self.until)
                try transaction.tasks.update(task)
            }
        }
        try store.close()
        try directory.execute(
            """
            PRAGMA ignore_check_constraints = 1;
            UPDATE task SET options = '{bad' WHERE id IN (2, 3);
            """)
        return try directory.open()
    }

    @Test func aListOfTasksLeavesOutUnreadableRowsAndNamesThem() async throws {
        let directory = try StoreDirectory()
        let store = try await damaged(directory)
        try await store.read { reader throws in
            let due = try reader.waits.due(now: Self.until, limit: 9)
            #expect(due.map(\.id) == [TaskID(4)] && due.unreadable == [TaskID(2), TaskID(3)])
            #expect(due.lastID == TaskID(4))
            // A page of unreadable rows is not the end.
            let page = try reader.waits.tasks(for: .retry, limit: 2)
            #expect(page.isEmpty && page.lastID == TaskID(3))
            #expect(try reader.waits.tasks(for: .retry, after: TaskID(4), limit: 2).lastID == nil)
        }
        try store.close()
    }

    @Test func anUnreadableTaskIsPausedAndDueNoMore() async throws {
        let directory = try StoreDirectory()
        let store = try await damaged(directory)
        try await store.write { transaction throws in
            let due = try transaction.waits.due(now: Self.until, limit: 9)
            try transaction.tasks.setAside(due.unreadable)
            #expect(try transaction.waits.due(now: Self.until, limit: 9).unreadable.isEmpty)
            #expect(try transaction.counts.byState() == [.queued: 1, .waiting: 1, .paused: 2])
        }
        try store.close()
        try directory.execute("UPDATE task SET options = NULL WHERE id IN (2, 3)")
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// The webhook's filter would read the row.
    @Test func anUnreadableTaskIsCancelledAndDeletedBesideAWebhookWithAFilter() async throws {
        let directory = try StoreDirectory()
        let store = try await damaged(directory)
        let webhook = WebhookDefinition(
            name: "w", url: HTTPURL(scheme: .https, host: "ci.test", port: 443, target: "/hook"),
            events: [.taskCancelled, .taskRemoved], filter: WebhookFilter(groups: ["g"]))
        store.follow(WebhookSubscriptions([webhook]))
        try await store.write { transaction throws in
            let task = try #require(try transaction.tasks.findDamaged(TaskID(2)))
            #expect(task.state == .waiting && task.transferID == nil)
            try transaction.tasks.cancel(task, at: noon)
            try transaction.events.append(.taskCancelled, taskID: task.id, owner: task.owner, at: noon)
            #expect(try transaction.counts.byState() == [.queued: 1, .waiting: 2, .cancelled: 1])
            try transaction.events.append(.taskRemoved, taskID: task.id, owner: task.owner, at: noon)
            try transaction.tasks.delete(task.id)
            #expect(try transaction.tasks.findDamaged(TaskID(2)) == nil)
        }
        try store.close()
        try directory.execute("UPDATE task SET options = NULL WHERE id = 3")
        try TaskStore.check(at: directory.database, thoroughly: true)
    }
}
