import NIOConcurrencyHelpers
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Change-sets that would change a held task wait for its release.
@Suite struct UncommittedStartTests {
    @Test func aChangeOfATaskWithAnUncommittedStartIsMadeAfterItsRelease() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let ids = try await store.write { try $0.add(2) }
        let wanted = Gate()
        store.uncommittedStarts.setWanted { wanted.open() }
        try await store.write { $0.addUncommittedStart(ids[0]) }
        let order = NIOLockedValueBox<[String]>([])
        let change = Task {
            try await store.write { tx in
                // What comes before the refused change is rolled back with it.
                try tx.settings.set("probe of the change", "1")
                try tx.tasks.delete(ids[0])
            }
            order.withLockedValue { $0.append("changed") }
        }
        await wanted.wait()
        #expect(store.uncommittedStarts.isWanted)
        #expect(try await store.read { try $0.settings.find("probe of the change") } == nil)
        // Others go on, and so does the holder.
        try await store.write { try $0.tasks.delete(ids[1]) }
        try await store.write { tx in
            try tx.asStarter {
                var task = try #require(try tx.tasks.find(ids[0]))
                task.received = 1
                try tx.tasks.update(task)
            }
        }
        order.withLockedValue { $0.append("released") }
        store.uncommittedStarts.release([ids[0]])
        try await change.value
        #expect(order.withLockedValue(\.self) == ["released", "changed"])
        #expect(!store.uncommittedStarts.isWanted)
        #expect(try await store.read { try $0.tasks.find(ids[0]) } == nil)
        try store.close()
    }

    @Test func aChangeThatStillWaitsWhenTheStoreIsClosedFails() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1) }[0]
        let wanted = Gate()
        store.uncommittedStarts.setWanted { wanted.open() }
        try await store.write { $0.addUncommittedStart(id) }
        let change = Task { try await store.write { try $0.tasks.delete(id) } }
        await wanted.wait()
        try store.close()
        await #expect(throws: StoreError.closed) { try await change.value }
    }

    /// The release may come between the refusal and the wait.
    @Test func aChangeWhoseTaskWasReleasedMeanwhileIsMadeAtOnce() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1) }[0]
        try await store.write { $0.addUncommittedStart(id) }
        let hasFound = NIOLockedValueBox(false)
        try await store.write { [held = store.uncommittedStarts] tx in
            do {
                try tx.tasks.delete(id)
            } catch StoreError.uncommittedStart(let task) {
                // The scheduler releases it while the transaction is rolled back.
                hasFound.withLockedValue { $0 = true }
                held.release([task])
                throw StoreError.uncommittedStart(task)
            }
        }
        #expect(hasFound.withLockedValue { $0 })
        #expect(try await store.read { try $0.tasks.find(id) } == nil)
        try store.close()
    }

    @Test func aChangeThatFailsHoldsNothing() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let ids = try await store.write { try $0.add(2) }
            try await store.write { $0.addUncommittedStart(ids[0]) }
            await #expect(throws: Refused.self) {
                try await store.write { tx in
                    for id in ids { tx.addUncommittedStart(id) }
                    throw Refused()
                }
            }
            #expect(store.uncommittedStarts.removeUncommitted(from: ids) == [ids[1]])
            store.uncommittedStarts.release(ids)
        }
    }

    /// The change is executed twice, because another one of its group fails: the second time it finds the task free
    /// again, and holds it.
    @Test func aChangeThatIsExecutedAgainFindsItsTaskAsTheFirstTime() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let id = try await store.write { try $0.add(1) }[0]
            let found = NIOLockedValueBox<[[TaskID]]>([])
            let results: [Result<Void, any Error>] = await store.write(each: [
                { [held = store.uncommittedStarts] tx in
                    found.withLockedValue { $0.append(held.removeUncommitted(from: [id])) }
                    tx.addUncommittedStart(id)
                }, { _ in throw Refused() },
            ])
            #expect(results.map { (try? $0.get()) != nil } == [true, false])
            #expect(found.withLockedValue(\.self) == [[id], [id]])
            #expect(store.uncommittedStarts.contains(id))
            store.uncommittedStarts.release([id])
        }
    }
}
