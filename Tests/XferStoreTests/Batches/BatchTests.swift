import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Batches as the store counts them.
struct BatchTests {
    private static let owner = Owner(uid: 1000)

    private static func add(
        _ count: Int, state: TaskState = .queued, in transaction: StoreTransaction
    ) throws -> (BatchID, [TaskID]) {
        let (id, group) = try transaction.batches.insert(owner: owner, maxActive: 3, at: noon)
        let ids = try (0..<count).map { number in
            try transaction.tasks.insert(
                specification("host\(number)", group: group), state: state, batch: id, at: noon
            ).id
        }
        try transaction.batches.seal(id, total: count, refused: nil)
        return (id, ids)
    }

    private static func completions(_ reader: StoreReader) throws -> [EventPayload] {
        try reader.events.list(since: 0, limit: 1000).map(\.payload).filter { $0.type == .batchCompleted }
    }

    private static func end(_ id: TaskID, _ state: TaskState, in transaction: StoreTransaction) throws {
        try transaction.setState(state, of: id, finishedAt: noon.advanced(by: .seconds(id.rawValue)))
    }

    @Test func finishedAreAllThatEndedAndSkippedThoseThatFailed() async throws {
        try await withStore { store in
            let (id, ids) = try await store.write { try Self.add(5, in: $0) }
            let ends: [TaskState] = [.failed, .completed, .cancelled, .failed]
            for (task, state) in zip(ids, ends) { try await store.write { try Self.end(task, state, in: $0) } }
            var batch = try #require(try await store.read { try $0.batches.find(id) })
            #expect(batch.total == 5 && batch.finished == 4 && batch.skipped == 2)
            #expect(batch.counts == [.failed: 2, .completed: 1, .cancelled: 1, .queued: 1])
            #expect(batch.completedAt == nil && batch.group == "batch-1")
            #expect(try await store.read { try Self.completions($0) } == [])
            try await store.write { try Self.end(ids[4], .completed, in: $0) }
            batch = try #require(try await store.read { try $0.batches.find(id) })
            #expect(batch.finished == 5 && batch.skipped == 2)
            #expect(batch.completedAt == noon.advanced(by: .seconds(5)))
            #expect(
                try await store.read { try Self.completions($0) }
                    == [.batchCompleted(batch: id, total: 5, finished: 5, skipped: 2)])
        }
    }

    @Test func aBatchCompletesOnceWhateverIsRetriedOrRemoved() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        let (id, ids) = try await store.write { try Self.add(3, in: $0) }
        try await store.write { transaction throws in
            try Self.end(ids[0], .failed, in: transaction)
            try transaction.tasks.delete(ids[0])
            try Self.end(ids[1], .completed, in: transaction)
        }
        try store.close()
        store = try directory.open()
        #expect(try await store.read { try Self.completions($0) } == [])
        try await store.write { try Self.end(ids[2], .failed, in: $0) }
        let once = [EventPayload.batchCompleted(batch: id, total: 3, finished: 3, skipped: 2)]
        #expect(try await store.read { try Self.completions($0) } == once)
        // Tried again, it is unfinished again, and no longer counts as failed.
        try await store.write { try $0.setState(.queued, of: ids[2]) }
        var batch = try #require(try await store.read { try $0.batches.find(id) })
        #expect(batch.finished == 2 && batch.skipped == 1 && batch.completedAt != nil)
        try await store.write { try Self.end(ids[2], .completed, in: $0) }
        try await store.write { for task in ids[1...] { try $0.tasks.delete(task) } }
        batch = try #require(try await store.read { try $0.batches.find(id) })
        #expect(batch.finished == 3 && batch.skipped == 1 && batch.counts == [:])
        #expect(try await store.read { try Self.completions($0) } == once)
        // The group went with the last member, the batch goes with its age.
        #expect(try await store.read { try $0.groups.list(limit: 9) }.isEmpty)
        #expect(try await store.write { try $0.batches.trim(olderThan: noon) } == 0)
        #expect(try await store.write { try $0.batches.trim(olderThan: noon.advanced(by: .seconds(100))) } == 1)
        #expect(try await store.read { try $0.batches.find(id) } == nil)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aBatchWithoutUnfinishedMembersCompletesAtOnce() async throws {
        try await withStore { store in
            let empty = try await store.write { try Self.add(0, in: $0).0 }
            let ended = try await store.write { try Self.add(2, state: .failed, in: $0).0 }
            #expect(
                try await store.read { try Self.completions($0) } == [
                    .batchCompleted(batch: empty, total: 0, finished: 0, skipped: 0),
                    .batchCompleted(batch: ended, total: 2, finished: 2, skipped: 2),
                ])
            #expect(try await store.read { try $0.groups.list(limit: 9).map(\.key.name) } == ["batch-2"])
        }
    }

    /// Other change-sets of the same commit fail; what is counted is what was committed.
    @Test func onlyCommittedMembersAreCounted() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let (id, ids) = try await store.write { try Self.add(4, in: $0) }
            await withTaskGroup(of: Void.self) { group in
                for (index, task) in ids.enumerated() {
                    group.addTask {
                        try? await store.write { transaction throws in
                            try Self.end(task, .completed, in: transaction)
                            try transaction.batches.completeFinished()
                            if index.isMultiple(of: 2) { throw Refused() }
                        }
                    }
                }
            }
            #expect(try await store.read { try $0.batches.find(id) }?.finished == 2)
            #expect(try await store.read { try Self.completions($0) } == [])
            try await store.write { for task in ids { try Self.end(task, .completed, in: $0) } }
            #expect(try await store.read { try Self.completions($0) }.count == 1)
        }
    }

    @Test func aRepeatedAddFindsItsBatchAndAnotherAddDoesNot() async throws {
        try await withStore { store in
            let id = try await store.write { transaction throws in
                let (id, _) = try transaction.batches.insert(
                    owner: Self.owner, maxActive: 1, clientKey: "k", requestText: "this", at: noon)
                try transaction.batches.seal(id, total: 0, refused: "[]")
                return id
            }
            try await store.read { reader throws in
                let found = try #require(
                    try reader.batches.earlier(owner: Self.owner, clientKey: "k", requestText: "this"))
                #expect(found == EarlierBatch(id: id, isSameRequest: true, refused: "[]"))
                let other = try reader.batches.earlier(owner: Self.owner, clientKey: "k", requestText: "that")
                #expect(other?.isSameRequest == false)
                #expect(try reader.batches.earlier(owner: Owner(uid: 1), clientKey: "k", requestText: "this") == nil)
            }
        }
    }
}
