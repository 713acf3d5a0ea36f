import NIOConcurrencyHelpers
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Change-sets that would change a held task wait for its release.
@Suite struct HeldTaskTests {
    @Test func aChangeOfAHeldTaskIsMadeAfterItsRelease() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let ids = try await store.write { try $0.add(2) }
        let wanted = Gate()
        store.held.setWanted { wanted.open() }
        store.held.hold(ids[0])
        let order = NIOLockedValueBox<[String]>([])
        let change = Task {
            try await store.write { tx in
                // What comes before the refused change is rolled back with it.
                try tx.setSetting("probe of the change", "1")
                try tx.deleteTask(ids[0])
            }
            order.withLockedValue { $0.append("changed") }
        }
        await wanted.wait()
        #expect(store.held.isWanted)
        #expect(try await store.read { try $0.setting("probe of the change") } == nil)
        // Others go on, and so does the holder.
        try await store.write { try $0.deleteTask(ids[1]) }
        try await store.write { tx in
            try tx.asHolder {
                var task = try #require(try tx.task(ids[0]))
                task.received = 1
                try tx.update(task)
            }
        }
        order.withLockedValue { $0.append("released") }
        store.held.release([ids[0]])
        try await change.value
        #expect(order.withLockedValue(\.self) == ["released", "changed"])
        #expect(!store.held.isWanted)
        #expect(try await store.read { try $0.task(ids[0]) } == nil)
        try store.close()
    }

    @Test func aChangeThatStillWaitsWhenTheStoreIsClosedFails() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1) }[0]
        let wanted = Gate()
        store.held.setWanted { wanted.open() }
        store.held.hold(id)
        let change = Task { try await store.write { try $0.deleteTask(id) } }
        await wanted.wait()
        try store.close()
        await #expect(throws: StoreError.closed) { try await change.value }
    }

    /// The release may come between the refusal and the wait.
    @Test func aChangeWhoseTaskWasReleasedMeanwhileIsMadeAtOnce() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1) }[0]
        store.held.hold(id)
        let hasFound = NIOLockedValueBox(false)
        try await store.write { [held = store.held] tx in
            do {
                try tx.deleteTask(id)
            } catch StoreError.held(let task) {
                // The scheduler releases it while the transaction is rolled back.
                hasFound.withLockedValue { $0 = true }
                held.release([task])
                throw StoreError.held(task)
            }
        }
        #expect(hasFound.withLockedValue { $0 })
        #expect(try await store.read { try $0.task(id) } == nil)
        try store.close()
    }

    @Test func whatARolledBackTransactionHeldIsReleased() throws {
        let held = HeldTasks()
        for id in 1...3 { held.hold(TaskID(Int64(id))) }
        held.releaseAll(but: [TaskID(2)])
        #expect(held.first(of: [TaskID(1), TaskID(3)]) == nil && held.contains(TaskID(2)))
    }
}
