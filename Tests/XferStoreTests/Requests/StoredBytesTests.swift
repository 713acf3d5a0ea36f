import Testing
import XferModel

@testable import XferStore

/// The bytes that are kept for each user.
struct StoredBytesTests {
    private static let owner = Owner(uid: 7)

    private static func add(_ tx: StoreTransaction, meta: Int = 0) throws -> TaskID {
        var specification = specification()
        specification.owner = owner
        if meta > 0 { specification.meta = "\"" + String(repeating: "m", count: meta) + "\"" }
        return try tx.tasks.insert(specification, state: .queued, at: noon).id
    }

    private static func result(_ length: Int) -> StoredResult {
        StoredResult(content: .inline([UInt8](repeating: 1, count: length)), length: Int64(length))
    }

    @Test func whatIsKeptCountsUntilItIsRemoved() async throws {
        try await withStore { store in
            try await store.write { tx in
                let (one, other) = (try Self.add(tx), try Self.add(tx))
                #expect(try tx.storedBytes.total(of: Self.owner) == 0)
                try tx.results.set(Self.result(5000), of: one, at: noon)
                try tx.results.set(Self.result(6000), of: other, at: noon)
                #expect(try tx.storedBytes.total(of: Self.owner) == 11_000)
                // It replaces what was kept before.
                try tx.results.set(Self.result(7000), of: one, at: noon)
                #expect(try tx.storedBytes.total(of: Self.owner) == 13_000)
                try tx.results.remove(of: one)
                try tx.results.remove(of: one)
                #expect(try tx.storedBytes.total(of: Self.owner) == 6000)
                try tx.tasks.delete(other)
                #expect(try tx.storedBytes.total(of: Self.owner) == 0)
            }
        }
    }

    @Test(arguments: [(4095, 0), (4096, 4096), (4097, 4097)])
    func aShortResponseDoesNotCount(length: Int, stored: Int64) async throws {
        try await withStore { store in
            try await store.write { tx in
                try tx.results.set(Self.result(length), of: try Self.add(tx), at: noon)
                #expect(try tx.storedBytes.total(of: Self.owner) == stored)
            }
        }
    }

    @Test func aMetaThatChangesCountsWithItsNewLength() async throws {
        try await withStore { store in
            try await store.write { tx in
                var task = try #require(try tx.tasks.find(try Self.add(tx)))
                task.specification.meta = "\"" + String(repeating: "m", count: 16_000) + "\""
                try tx.tasks.update(task)
                #expect(try tx.storedBytes.total(of: Self.owner) >= 16_000)
                task.specification.meta = nil
                try tx.tasks.update(task)
                #expect(try tx.storedBytes.total(of: Self.owner) == 0)
            }
        }
    }

    @Test func aTaskWithALongMetaCountsUntilItIsRemoved() async throws {
        try await withStore { store in
            try await store.write { tx in
                let id = try Self.add(tx, meta: 16_000)
                #expect(try tx.storedBytes.total(of: Self.owner) >= 16_000)
                #expect(try tx.storedBytes.total(of: Owner(uid: 8)) == 0)
                try tx.tasks.delete(id)
                #expect(try tx.storedBytes.total(of: Self.owner) == 0)
            }
        }
    }
}
