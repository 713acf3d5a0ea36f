import Testing
import XferModel

@testable import XferStore

/// The failed-URL list as rows.
@Suite struct FailedURLTests {
    private static let always = Timestamp(seconds: 0)...Timestamp(seconds: 4_000_000_000)
    private static let error = TransferError(.httpStatus, "example.com answered 404", httpStatus: 404)

    private static func insert(
        _ number: Int, in tx: StoreTransaction, owner: UInt32 = 1000, path: String? = nil, maxCount: Int64 = 100,
        at time: Timestamp = noon
    ) throws {
        let asked = specification(path: path ?? "/\(number)?token=secret", owner: owner)
        let task = TransferTask(
            id: TaskID(Int64(number)), specification: asked, state: .failed, rank: 0, createdAt: noon)
        try tx.failedURLs.insert(
            key: [UInt8(number % 256), UInt8(number / 256)], urlDigest: [UInt8(number % 2)], of: task, error: error,
            maxCount: maxCount, at: time)
    }

    private static func all(_ reader: StoreReader, owner: Owner? = nil) throws -> [FailedURL] {
        try reader.failedURLs.list(of: owner, within: always, ascending: true, limit: 1000, cursor: nil).entries
    }

    @Test func anEntryIsFoundByItsKeyAndItsTime() async throws {
        try await withStore { store in
            try await store.write { tx in
                #expect(try !tx.failedURLs.hasAny())
                try Self.insert(7, in: tx)
                #expect(try tx.failedURLs.hasAny())
            }
            try await store.read { reader in
                let entry = try #require(try reader.failedURLs.find(key: [7, 0], within: noon...noon))
                #expect(entry.url == "https://example.com/7?token=***")
                #expect(entry.error == Self.error && entry.taskID == TaskID(7) && entry.method == .get)
                #expect(try reader.failedURLs.find(key: [8, 0], within: Self.always) == nil)
                let before = Timestamp(seconds: 0)...noon.advanced(by: .microseconds(-1))
                #expect(try reader.failedURLs.find(key: [7, 0], within: before) == nil)
            }
        }
    }

    @Test func theSameKeyIsListedOnceAndBecomesTheNewest() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in [1, 2, 1] { try Self.insert(number, in: tx) }
                #expect(try Self.all(tx).map(\.taskID.rawValue) == [2, 1])
                try tx.failedURLs.remove(key: [1, 0])
                #expect(try Self.all(tx).map(\.taskID.rawValue) == [2])
            }
        }
    }

    @Test func theTableIsBoundedAndTheOldestGoFirst() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in 1...50 {
                    try Self.insert(number, in: tx, maxCount: 10)
                    #expect(try Self.all(tx).count <= 10)
                }
                #expect(try Self.all(tx).map(\.taskID.rawValue) == Array(41...50))
                // A bound that has become smaller is reached in small steps.
                try Self.insert(51, in: tx, maxCount: 2)
                #expect(try Self.all(tx).map(\.taskID.rawValue) == [50, 51])
            }
        }
    }

    @Test func pagesListEveryEntryOnce() async throws {
        try await withStore { store in
            try await store.write { tx in for number in 1...25 { try Self.insert(number, in: tx) } }
            for ascending in [true, false] {
                var found: [Int64] = []
                var cursor: String?
                repeat {
                    let page = try await store.read { [cursor] in
                        try $0.failedURLs.list(
                            of: nil, within: Self.always, ascending: ascending, limit: 10, cursor: cursor)
                    }
                    found += page.entries.map(\.taskID.rawValue)
                    cursor = page.nextCursor
                } while cursor != nil
                #expect(found == (ascending ? Array(1...25) : (1...25).reversed()))
            }
            let cursor = try await store.read {
                try $0.failedURLs.list(of: nil, within: Self.always, ascending: true, limit: 1, cursor: nil).nextCursor
            }
            for (owner, ascending) in [(nil, false), (Owner(uid: 1000), true)] as [(Owner?, Bool)] {
                await #expect(throws: StoreError.invalidCursor) {
                    try await store.read {
                        try $0.failedURLs.list(
                            of: owner, within: Self.always, ascending: ascending, limit: 1, cursor: cursor)
                    }
                }
            }
        }
    }

    @Test func anOwnerRemovesOnlyItsOwnEntries() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in 1...6 { try Self.insert(number, in: tx, owner: number <= 3 ? 1000 : 1001) }
                let (mine, theirs) = (Owner(uid: 1000), Owner(uid: 1001))
                let ids = (1...7).map { FailedURLID(Int64($0)) }
                #expect(try Self.all(tx, owner: mine).count == 3)
                #expect(Set(try tx.failedURLs.remove([ids[0], ids[3], ids[6]], of: mine)) == [ids[0]])
                #expect(Set(try tx.failedURLs.remove(urlDigest: [0], of: theirs)) == [ids[3], ids[5]])
                #expect(try tx.failedURLs.clear(of: mine, step: 1) == 1)
                #expect(try Self.all(tx).map(\.owner.rawValue) == [1000, 1001])
                #expect(try tx.failedURLs.clear(of: nil) == 2)
                #expect(try tx.failedURLs.clear(of: nil) == 0)
            }
        }
    }

    @Test func expiredEntriesAreTrimmedInSmallSteps() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in 1...20 {
                    try Self.insert(number, in: tx, at: noon.advanced(by: .seconds(Int64(number))))
                }
                let kept = noon.advanced(by: .seconds(Int64(8)))...noon.advanced(by: .seconds(Int64(12)))
                #expect(try tx.failedURLs.trim(keeping: kept, step: 10) == 10)
                #expect(try tx.failedURLs.trim(keeping: kept, step: 10) == 5)
                #expect(try tx.failedURLs.trim(keeping: kept, step: 10) == 0)
                #expect(try Self.all(tx).map(\.taskID.rawValue) == Array(8...12))
                #expect(try tx.failedURLs.trim(keeping: nil) == 5)
            }
        }
    }

    @Test func everyDatabaseHasADigestKeyOfItsOwn() async throws {
        let first = try await withStore { store in try await store.read { try $0.failedURLs.digestKey() } }
        let second = try await withStore { store in try await store.read { try $0.failedURLs.digestKey() } }
        #expect(first.count == 32 && second.count == 32 && first != second)
    }
}
