import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// The directories in which tasks of guests' tokens write.
@Suite struct TokenDirectoryTests {
    @Test(arguments: [TokenScope.add, .own])
    func aTokenOfAGuestWhoMayNotWriteInTheDownloadDirectoryNeedsADirectory(scope: TokenScope) async throws {
        let fixture = try await ManagerFixture()
        let root = try fixture.directory.makeDirectory("games", mode: 0o777)
        let manager = try await fixture.open(change: { $0.grants.users = [1000: [root]] })
        let guest = Owner(uid: 1000)
        await #expect {
            _ = try await manager.tokens.add("t", for: guest, scope, expiresAt: nil)
        } throws: { error in
            guard case ManagerError.invalidField("dir", let reason, let expected) = error else { return false }
            return reason.contains("user 1000 may not write in download.dir") && expected.contains("--dir")
                && expected.contains(root)
        }
        #expect(try await manager.tokens.list().isEmpty)
        _ = try await manager.tokens.add("reader", for: guest, .read, expiresAt: nil)
        _ = try await manager.tokens.add("mine", for: ManagerFixture.caller.owner, scope, expiresAt: nil)
        await manager.shutdown(.suspend)
    }

    @Test func aTokenOfAGuestWhoMayWriteInTheDownloadDirectoryNeedsNone() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let added = try await manager.tokens.add("t", for: Owner(uid: 1000), .own, expiresAt: nil)
        #expect(added.token.directory == nil)
        await manager.shutdown(.suspend)
    }
}
