import Testing
import XferManager
import XferModel

@testable import XferDaemon

@Suite struct SharingSettingsTests {
    private func sharing(_ yaml: String, environment: [String: String] = [:]) throws -> ManagerSettings {
        let instance = try InstancePaths(environment: ["HOME": "/home/ann"], uid: 1000)
        return try LoadedSettings(
            flags: [:], environment: environment, file: ConfigurationText(path: "/c.yaml", text: yaml),
            instance: instance
        ).settings.service
    }

    @Test func failedURLsAreKeptForAnHourPerUserByDefault() throws {
        let usual = try sharing("")
        #expect(usual.negativeTTL == .seconds(3600) && !usual.sharesBetweenOwners)
        let set = try sharing("sharing: { negative_ttl: 90, between_owners: true }")
        #expect(set.negativeTTL == .seconds(90) && set.sharesBetweenOwners)
        #expect(try sharing("", environment: ["XFERD_SHARING_NEGATIVE_TTL": "0"]).negativeTTL == .zero)
    }

    @Test(
        arguments: ["negative_ttl: -1", "negative_ttl: soon", "negative_ttl: 1e9", "between_owners: 3"])
    func anInvalidTimeOrBooleanIsNamedWithItsPlace(yaml: String) throws {
        let found = try problems(of: "sharing: { \(yaml) }")
        #expect(found.count == 1 && found[0].hasPrefix("/c.yaml:1:") && found[0].contains("sharing."), "\(found)")
    }
}
