import Testing
import XferManager
import XferModel

@testable import XferDaemon

@Suite struct NetworkSettingsTests {
    private func settings(
        _ yaml: String = "", environment: [String: String] = [:], state: String? = nil
    ) throws -> Settings {
        var variables = environment
        variables["HOME"] = "/home/ann"
        if let state { variables["STATE_DIRECTORY"] = state }
        let instance = try InstancePaths(environment: variables, uid: 1000)
        return try LoadedSettings(
            flags: [:], environment: environment, file: ConfigurationText(path: "/c.yaml", text: yaml),
            instance: instance
        ).settings
    }

    @Test func onlyTheSystemInstanceDeniesCloudMetadataServicesByDefault() throws {
        #expect(try settings().service.admission == AdmissionLists())
        let system = try settings(state: "/var/lib/xferd/state")
        #expect(
            system.service.admission.deniedAddresses.map(\.description) == [
                "169.254.0.0/16", "fe80::/10", "fd00:ec2::254",
            ])
        let own = try settings("network: { deny_addresses: [10.0.0.0/8] }", state: "/var/lib/xferd/state")
        #expect(own.service.admission.deniedAddresses.map(\.description) == ["10.0.0.0/8"])
        #expect(
            try settings("network: { deny_addresses: [] }", state: "/var/lib/xferd/state").service.admission
                == AdmissionLists()
        )
    }

    @Test func aSingleEntryNeedsNoListAndTheEnvironmentAcceptsFlowStyle() throws {
        #expect(try settings("network: { deny_hosts: bad.test }").service.admission.deniedHosts.count == 1)
        let environment = [
            "XFERD_NETWORK_DENY_ADDRESSES": "[10.0.0.0/8, \"::1\"]", "XFERD_NETWORK_PROXY_FROM_ENVIRONMENT": "true",
        ]
        let service = try settings(environment: environment).service
        #expect(service.admission.deniedAddresses.map(\.description) == ["10.0.0.0/8", "::1"])
        #expect(service.usesEnvironmentProxies)
        #expect(service.monitorsNetwork && service.meteredInterfaces.isEmpty)
        let metered = try settings("network: { monitor: false, metered_interfaces: [wwan0, \"usb*\"] }").service
        #expect(!metered.monitorsNetwork && metered.meteredInterfaces.map(\.text) == ["wwan0", "usb*"])
    }

    @Test(
        arguments: [
            "deny_hosts: [\"http://x/\"]", "deny_addresses: [10.0.0.0/33]",
            "deny_addresses: { a: b }", "allow_hosts: [[a]]",
            "proxy_from_environment: maybe", "monitor: perhaps", "metered_interfaces: [a-name-that-is-too-long]",
            "metered_interfaces: [\"a b\"]",
        ])
    func anInvalidHostAddressOrBooleanIsNamedWithItsPlace(yaml: String) throws {
        let found = try problems(of: "network: { \(yaml) }")
        #expect(found.count == 1 && found[0].hasPrefix("/c.yaml:1:") && found[0].contains("network."), "\(found)")
    }
}
