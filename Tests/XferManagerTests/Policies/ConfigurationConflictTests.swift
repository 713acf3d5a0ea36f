import Testing
import XferModel
import XferProtocol

@testable import XferManager

/// Entries of the configuration whose names or hosts were also set over RPC: neither replaces the other.
struct ConfigurationConflictTests {
    private func policy(_ name: String, _ hosts: String...) throws -> TrustPolicy {
        TrustPolicy(name: name, mode: .none, hosts: try hosts.map { try HostPattern($0) })
    }

    private func names(_ manager: TransferManager) async -> [String] {
        await manager.policies.list().filter { !$0.policy.isDefault }.map { "\($0.policy.name) \($0.origin.rawValue)" }
    }

    @Test func aReloadWithTheNameOfAProfileSetOverRPCIsRefusedAndChangesNothing() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var mirror = Profile(name: "mirror")
        mirror.maxActive = 2
        _ = try await manager.profiles.set(mirror)
        var settings = manager.settings
        settings.profiles = [Profile(name: "mirror"), Profile(name: "other")]
        let error = await #expect(throws: ConfigurationConflicts.self) { try await manager.reload(settings) }
        #expect(error?.description.contains("xferctl profile remove mirror") == true)
        #expect(try await manager.profiles.list().map(\.profile) == [mirror])
        // With the way out that the error names, the file's profile is applied.
        try await manager.profiles.remove("mirror")
        try await manager.reload(settings)
        #expect(try await manager.profiles.list().allSatisfy(\.isConfigured))
        await manager.shutdown(.suspend)
    }

    @Test func aStartKeepsWhatWasSetOverRPCAndReportsTheFilesEntries() async throws {
        let fixture = try await ManagerFixture()
        let first = try await fixture.open()
        var mirror = Profile(name: "mirror")
        mirror.maxActive = 2
        _ = try await first.profiles.set(mirror)
        _ = try await first.policies.set(try policy("nas", "nas.test"))
        await first.shutdown(.suspend)
        let (sameName, sameHost) = (try policy("nas", "other.test"), try policy("bank", "bank.test", "nas.test"))
        let sound = try policy("sound", "sound.test")
        let second = try await fixture.open(change: { settings in
            settings.profiles = [Profile(name: "mirror")]
            settings.policies = [sameName, sameHost, sound]
        })
        #expect(try await second.profiles.list().map(\.profile) == [mirror])
        #expect(await names(second) == ["nas rpc", "sound configuration"])
        let reports = second.conflicts.map(\.description)
        #expect(reports.count == 3)
        #expect(reports[0].contains("xferctl policy remove nas"))
        #expect(reports[1].contains("nas.test is also that of trust policy \"nas\""))
        #expect(reports[2].contains("xferctl profile remove mirror"))
        await second.shutdown(.suspend)
    }

    @Test func aConflictDoesNotRemovePinsThatTheFileHadBefore() async throws {
        let fixture = try await ManagerFixture()
        let bank = try policy("bank", "bank.test")
        let first = try await fixture.open(change: { $0.policies = [bank] })
        _ = try await first.policies.set(try policy("nas", "nas.test"))
        await first.shutdown(.suspend)
        // The policy has another name and one more host, which is another policy's.
        let renamed = try policy("banks", "bank.test", "nas.test")
        let second = try await fixture.open(change: { $0.policies = [renamed] })
        #expect(await names(second) == ["bank configuration", "nas rpc"])
        await second.shutdown(.suspend)
    }
}
