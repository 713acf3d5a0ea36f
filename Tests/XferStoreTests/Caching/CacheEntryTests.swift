import Testing
import XferModel

@testable import XferStore

/// The cache as rows.
@Suite struct CacheEntryTests {
    private static let evidence = SourceEvidence(
        origin: Origin(scheme: .https, host: "example.com", port: 443), chain: [[1, 2], [3]], tls: .tls13,
        judgement: "1+2x")

    private static func response(_ number: Int, variant: [HeaderField] = [], length: Int64 = 100) -> StoredResponse {
        let url = HTTPURL(scheme: .https, host: "example.com", port: 443, target: "/\(number)")
        return StoredResponse(
            url: url, finalURL: url, fields: [HeaderField(name: "ETag", value: "\"\(number)\"")], variant: variant,
            requestTime: noon, responseTime: noon.advanced(by: .seconds(1)), length: length,
            digest: [UInt8](repeating: UInt8(number), count: 32), sources: [evidence])
    }

    @discardableResult
    private static func insert(
        _ number: Int, in tx: StoreTransaction, key: UInt8? = nil, variant: [HeaderField] = [], owner: UInt32 = 1000,
        length: Int64 = 100, at time: Timestamp = noon
    ) throws -> (id: CacheEntryID, replaced: [CachedBlob]) {
        try tx.cache.insert(
            response(number, variant: variant, length: length), key: [key ?? UInt8(number)],
            urlDigest: [UInt8(number)], finalURLDigest: [UInt8(number), 1], blob: "blob\(number)",
            owner: Owner(uid: owner), at: time)
    }

    private static func all(_ reader: StoreReader, owner: Owner? = nil) throws -> [Int64] {
        try reader.cache.entries(of: owner, ascending: true, limit: 1000, cursor: nil).entries.map(\.id.rawValue)
    }

    @Test func aCacheEntryIsReadBackUnchanged() async throws {
        try await withStore { store in
            let id = try await store.write { try Self.insert(7, in: $0).id }
            try await store.read { reader in
                let entry = try #require(try reader.cache.entries(key: [7]).first)
                #expect(entry.id == id && entry.response == Self.response(7) && entry.blob == "blob7")
                #expect(entry.owner == Owner(uid: 1000) && entry.storedAt == noon && entry.lastUsedAt == noon)
                #expect(try reader.cache.entries(key: [8]).isEmpty)
                #expect(try reader.cache.find(id, of: Owner(uid: 1000)) != nil)
                #expect(try reader.cache.find(id, of: Owner(uid: 1001)) == nil)
                #expect(try reader.cache.wantedBlobs(among: ["blob7", "blob8"]) == ["blob7"])
            }
        }
    }

    @Test func aCacheEntryReplacesOnlyTheOneOfTheSameKeyAndVariant() async throws {
        try await withStore { store in
            try await store.write { tx in
                let one = [HeaderField(name: "accept", value: "aa")]
                try Self.insert(1, in: tx, key: 9)
                try Self.insert(2, in: tx, key: 9, variant: one)
                #expect(try Self.insert(3, in: tx, key: 9, variant: one).replaced.map(\.name) == ["blob2"])
                #expect(try Self.insert(4, in: tx, key: 9).replaced.map(\.name) == ["blob1"])
                #expect(try tx.cache.entries(key: [9]).map(\.blob) == ["blob4", "blob3"])
                // They are bounded, and the oldest go.
                for number in 10..<40 {
                    try Self.insert(number, in: tx, key: 9, variant: [HeaderField(name: "a", value: "\(number)")])
                    #expect(try tx.cache.entries(key: [9]).count <= CacheEntry.maxVariants)
                }
                #expect(try tx.cache.entries(key: [9]).first?.blob == "blob39")
            }
        }
    }

    @Test func theLeastRecentlyUsedEntryIsEvictedFirst() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in 1...4 { try Self.insert(number, in: tx, at: noon.advanced(by: .seconds(Int64(number)))) }
                try tx.cache.touch(CacheEntryID(1), at: noon.advanced(by: .seconds(60)))
                #expect(try tx.cache.leastRecentlyUsed(limit: 9).map(\.id.rawValue) == [2, 3, 4, 1])
                #expect(try tx.cache.leastRecentlyUsed(limit: 2).map(\.name) == ["blob2", "blob3"])
            }
        }
    }

    @Test func renewingAnEntryChangesItsFieldsAndTimes() async throws {
        try await withStore { store in
            try await store.write { tx in
                let id = try Self.insert(1, in: tx).id
                var renewed = Self.response(1)
                renewed.fields = [HeaderField(name: "ETag", value: "W/\"1\"")]
                renewed.requestTime = noon.advanced(by: .seconds(50))
                renewed.responseTime = noon.advanced(by: .seconds(51))
                renewed.sources = []
                try tx.cache.renew(id, renewed, at: noon.advanced(by: .seconds(52)))
                let entry = try #require(try tx.cache.entries(key: [1]).first)
                #expect(entry.response == renewed && entry.lastUsedAt == noon.advanced(by: .seconds(52)))
                // One that is gone stays so.
                try tx.cache.renew(CacheEntryID(99), Self.response(2), at: noon)
                #expect(try tx.cache.totals() == CacheTotals(count: 1, byteCount: 100))
            }
        }
    }

    @Test func entriesAreCountedListedAndRemovedPerOwner() async throws {
        try await withStore { store in
            try await store.write { tx in
                for number in 1...6 {
                    try Self.insert(number, in: tx, owner: number % 2 == 0 ? 2000 : 1000, length: Int64(number))
                }
                let (even, odd) = (Owner(uid: 2000), Owner(uid: 1000))
                #expect(try tx.cache.totals() == CacheTotals(count: 6, byteCount: 21))
                #expect(try tx.cache.totals(of: even) == CacheTotals(count: 3, byteCount: 12))
                #expect(try Self.all(tx, owner: odd) == [1, 3, 5])
                #expect(
                    try tx.cache.remove([CacheEntryID(1), CacheEntryID(2)], of: even).map(\.id.rawValue) == [2])
                #expect(try tx.cache.remove(urlDigest: [4], of: odd).isEmpty)
                #expect(try tx.cache.remove(urlDigest: [4], of: even).map(\.name) == ["blob4"])
                #expect(try tx.cache.remove(urlDigest: [5, 1], of: nil).map(\.name) == ["blob5"])
                #expect(try Self.all(tx) == [1, 3, 6])
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
                        try $0.cache.entries(of: nil, ascending: ascending, limit: 10, cursor: cursor)
                    }
                    found += page.entries.map(\.id.rawValue)
                    cursor = page.nextCursor
                } while cursor != nil
                #expect(found == (ascending ? Array(1...25) : Array(1...25).reversed()))
            }
            let cursor = try await store.read {
                try $0.cache.entries(of: nil, ascending: true, limit: 1, cursor: nil).nextCursor
            }
            await #expect(throws: StoreError.self) {
                try await store.read {
                    _ = try $0.cache.entries(of: Owner(uid: 1), ascending: true, limit: 1, cursor: cursor)
                }
            }
        }
    }
}
