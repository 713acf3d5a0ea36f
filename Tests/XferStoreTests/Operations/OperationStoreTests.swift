import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Rows of background operations.
struct OperationStoreTests {
    private static let ann = Owner(uid: 1000)
    private static let bob = Owner(uid: 1001)

    private static func operation(
        of owner: Owner = ann, _ verb: OperationVerb = .pause, endedAt: Timestamp? = nil
    ) -> BulkOperation {
        BulkOperation(
            owner: owner, isOperator: false, verb: verb, filter: #"{"all":true}"#, last: TaskID(9), createdAt: noon,
            endedAt: endedAt)
    }

    /// Inserts an operation that has ended.
    private static func insertEnded(
        _ tx: StoreTransaction, of owner: Owner, at time: Timestamp
    ) throws -> OperationID {
        var ended = try tx.operations.insert(operation(of: owner))
        ended.state = .completed
        ended.endedAt = time
        try tx.operations.update(ended)
        return ended.id
    }

    @Test func whatIsWrittenIsRead() async throws {
        try await withStore { store in
            let written = try await store.write { tx in
                var operation = try tx.operations.insert(Self.operation(.remove))
                operation.reached = TaskID(5)
                operation.counts.changed = 3
                operation.counts.unchanged = 1
                operation.counts.refused = 2
                operation.counts.filesDeleted = 4
                operation.counts.filesKept = 1
                operation.report.refusals = [
                    OperationReport.Refusal(id: TaskID(1), reason: "disk_full", message: "\"no\" room")
                ]
                operation.report.kept = [OperationReport.KeptFile(id: TaskID(2), path: "/d/ü", reason: "replaced")]
                operation.state = .failed
                operation.error = "e"
                operation.reportedAt = noon
                operation.endedAt = noon.advanced(by: .seconds(1))
                try tx.operations.update(operation)
                return operation
            }
            #expect(try await store.read { try $0.operations.find(written.id) } == written)
            #expect(try await store.read { try $0.operations.find(OperationID(99)) } == nil)
        }
    }

    @Test func theNextOperationOfAUserIsItsOldestThatHasNotEnded() async throws {
        try await withStore { store in
            let ids = try await store.write { tx in
                _ = try Self.insertEnded(tx, of: Self.ann, at: noon)
                let first = try tx.operations.insert(Self.operation(of: Self.ann, .pause)).id
                let other = try tx.operations.insert(Self.operation(of: Self.bob)).id
                let second = try tx.operations.insert(Self.operation(of: Self.ann, .resume)).id
                return [first, other, second]
            }
            #expect(try await store.read { try $0.operations.next(of: Self.ann)?.id } == ids[0])
            #expect(try await store.read { try $0.operations.next(of: Self.bob)?.id } == ids[1])
            #expect(try await store.read { try $0.operations.next(of: Owner(uid: 7)) } == nil)
            #expect(try await store.read { try $0.operations.runningCount(of: Self.ann) } == 2)
            #expect(try await Set(store.read { try $0.operations.ownersOfRunning() }) == [Self.ann, Self.bob])
        }
    }

    /// A later program may know other verbs.
    @Test func anUnreadableRowKeepsNoOtherOperationFromGoingOn() async throws {
        // The check at the end of `withStore` would report the row.
        let directory = try StoreDirectory()
        let store = try directory.open()
        let ids = try await store.write { tx in
            let ids = try (0..<3).map { _ in try tx.operations.insert(Self.operation()).id }
            try tx.connection.run("UPDATE operation SET verb = 'other' WHERE id = ?1", .integer(ids[0].rawValue))
            return ids
        }
        #expect(try await store.read { try $0.operations.next(of: Self.ann)?.id } == ids[1])
        let page = try await store.read { try $0.operations.list(of: nil, limit: 9, cursor: nil) }
        #expect(page.operations.map(\.id) == [ids[2], ids[1]] && page.nextCursor == nil)
        try store.close()
    }

    @Test(arguments: [1, 2, 3]) func pagesListEachOperationOnceTheNewestFirst(limit: Int) async throws {
        try await withStore { store in
            let ids = try await store.write { tx in
                _ = try tx.operations.insert(Self.operation(of: Self.bob))
                return try (0..<3).map { _ in try tx.operations.insert(Self.operation()).id }
            }
            var found: [OperationID] = []
            var cursor: String?
            repeat {
                let from = cursor
                let page = try await store.read { try $0.operations.list(of: Self.ann, limit: limit, cursor: from) }
                #expect(page.operations.count <= limit && page.cursors.count == page.operations.count)
                found += page.operations.map(\.id)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(found == ids.reversed())
            // A cursor of one user's list does not fit another's.
            let first = try await store.read { try $0.operations.list(of: Self.ann, limit: 1, cursor: nil) }
            await #expect(throws: StoreError.invalidCursor) {
                _ = try await store.read {
                    try $0.operations.list(of: Self.bob, limit: 1, cursor: first.nextCursor).operations
                }
            }
        }
    }

    @Test func ofEndedOperationsTheNewestOfEachUserAreKept() async throws {
        try await withStore { store in
            let (kept, running, others) = try await store.write { tx in
                let running = try tx.operations.insert(Self.operation()).id
                let ended = try (0..<5).map { _ in try Self.insertEnded(tx, of: Self.ann, at: noon) }
                let other = try Self.insertEnded(tx, of: Self.bob, at: noon)
                try tx.operations.trim(of: Self.ann, keeping: 2)
                return (ended.suffix(2), running, other)
            }
            let left = try await store.read {
                try $0.operations.list(of: nil, limit: 99, cursor: nil).operations.map(\.id)
            }
            #expect(Set(left) == Set(kept + [running, others]))
        }
    }

    @Test func onlyOperationsThatEndedBeforeATimeAreForgotten() async throws {
        try await withStore { store in
            let (ids, count) = try await store.write { tx in
                let running = try tx.operations.insert(Self.operation()).id
                let ids = try [-1, 0, 1].map {
                    try Self.insertEnded(tx, of: Self.ann, at: noon.advanced(by: .seconds($0)))
                }
                return (ids + [running], try tx.operations.trim(endedBefore: noon))
            }
            #expect(count == 1)
            let left = try await store.read {
                try $0.operations.list(of: nil, limit: 9, cursor: nil).operations.map(\.id)
            }
            #expect(Set(left) == Set(ids.dropFirst()))
        }
    }
}
