import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// The number of tokens is bounded.
@Suite struct TokenLimitTests {
    @Test func aTokenBeyondTheLimitIsRefusedUntilAnotherIsRevoked() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let owner = ManagerFixture.caller.owner
        try await manager.store.write { tx in
            for number in 1..<TokenCommands.limit {
                let token = AccessToken(
                    name: "\(number)", owner: owner, scope: .read, createdAt: Timestamp(seconds: 0), expiresAt: nil,
                    directory: nil)
                _ = try tx.tokens.add(StoredToken(token: token, digest: try TokenText.digest("\(number)")))
            }
        }
        _ = try await manager.tokens.add("last", for: owner, .read, expiresAt: nil)
        await #expect {
            try await manager.tokens.add("more", for: owner, .read, expiresAt: nil)
        } throws: { error in
            guard case ManagerError.limitExceeded(_, TokenCommands.limit) = error else { return false }
            return true
        }
        try await manager.tokens.revoke("1")
        _ = try await manager.tokens.add("more", for: owner, .read, expiresAt: nil)
        #expect(try await manager.tokens.list().count == TokenCommands.limit)
        await manager.shutdown(.suspend)
    }
}
