import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Which responses a trim of the cache removes.
@Suite struct CacheTrimTests {
    /// Keeps rows of `length` bytes for an owner, each used a second after the one before.
    private static func keep(_ count: Int, of length: Int64, for owner: Owner, in manager: TransferManager) async throws
    {
        try await manager.store.write { tx in
            for number in 0..<count {
                let name = "\(owner)-\(number)"
                let url = HTTPURL(scheme: .https, host: "example.com", port: 443, target: "/\(name)")
                let time = Timestamp(seconds: Int64(number))
                _ = try tx.cache.insert(
                    StoredResponse(
                        url: url, finalURL: url, requestTime: time, responseTime: time, length: length, digest: [1]),
                    key: Array(name.utf8), urlDigest: [1], finalURLDigest: [1], blob: name, owner: owner, at: time)
            }
        }
    }

    private static func left(of owner: Owner, in manager: TransferManager) async throws -> [String] {
        try await manager.store.read {
            try $0.cache.entries(of: owner, ascending: true, limit: 1000, cursor: nil).entries.map(\.blob)
        }
    }

    @Test func aUserWhoFillsTheCacheLosesTheOldestAndOthersNone() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: {
            $0.cacheMaxBytes = 1000
            // A century: the rows were used in 1970.
            $0.cacheMaxAge = .seconds(3_153_600_000)
        })
        let (greedy, modest) = (Owner(uid: 1001), Owner(uid: 1002))
        try await Self.keep(3, of: 50, for: modest, in: manager)
        try await Self.keep(9, of: 94, for: greedy, in: manager)
        // 996 bytes are within the limit.
        #expect(try await manager.services.cache.trim() == CacheTotals())
        try await Self.keep(3, of: 52, for: modest, in: manager)
        // 1,002 are not: of the 500 that stay, the modest user keeps all 156.
        let removed = try await manager.services.cache.trim()
        #expect(removed.count == 6)
        #expect(try await Self.left(of: modest, in: manager).count == 3)
        #expect(try await Self.left(of: greedy, in: manager) == ["1001-6", "1001-7", "1001-8"])
        await manager.shutdown(.suspend)
    }
}
