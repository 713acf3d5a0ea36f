import Testing
import XferCore
import XferModel

@Suite struct AdmissionRulesTests {
    private func rules(
        deny hosts: [String] = [], addresses: [String] = [], allow: [String] = []
    ) throws -> AdmissionRules {
        AdmissionRules(
            AdmissionLists(
                deniedHosts: try hosts.map { try HostPattern($0) },
                deniedAddresses: try addresses.map { try #require(AddressBlock($0)) },
                allowedHosts: try allow.map { try HostPattern($0) }))
    }

    private func admits(_ rules: AdmissionRules, _ host: String, port: UInt16 = 443) -> Bool {
        rules.refusal(ofHost: host, port: port) == nil
    }

    @Test func withoutListsEverythingMayBeAsked() throws {
        let rules = AdmissionRules()
        for host in ["example.org", "localhost", "127.0.0.1", "[::1]", "169.254.169.254"] {
            #expect(admits(rules, host))
        }
        #expect(!rules.judgesAddresses)
    }

    @Test func deniedHostsAreRefusedInEverySpelling() throws {
        let rules = try rules(deny: ["bad.example", ".evil.example", "*.one.example", "port.example:8080"])
        for host in ["bad.example", "BAD.example", "bad.example.", "evil.example", "a.b.evil.example", "a.one.example"]
        {
            #expect(!admits(rules, host), "\(host)")
        }
        for host in [
            "good.example", "notbad.example", "sub.bad.example", "one.example", "a.b.one.example", "notevil.example",
        ] {
            #expect(admits(rules, host), "\(host)")
        }
        #expect(!admits(rules, "port.example", port: 8080) && admits(rules, "port.example", port: 443))
    }

    @Test(arguments: [
        "127.0.0.1", "127.9.8.7", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0", "[::ffff:0.0.0.0]",
    ])
    func aDeniedAddressIsRefusedInEveryDisguise(host: String) throws {
        for list in [try rules(addresses: ["127.0.0.0/8"]), try rules(addresses: ["::ffff:127.0.0.0/104"])] {
            #expect(!admits(list, host))
            let address = try #require(IPAddress(host: host))
            #expect(list.refusal(ofAddress: address, port: 1) != nil)
        }
    }

    @Test func deniedPatternsThatAreAddressesCountForConnectionsToo() throws {
        let rules = try rules(deny: ["127.0.0.1", "[::1]:99"])
        #expect(rules.judgesAddresses)
        #expect(!admits(rules, "[::ffff:127.0.0.1]") && admits(rules, "127.0.0.2"))
        #expect(rules.refusal(ofAddress: try #require(IPAddress("127.0.0.1")), port: 1) != nil)
        #expect(rules.refusal(ofAddress: try #require(IPAddress("::")), port: 99) != nil)
        #expect(rules.refusal(ofAddress: try #require(IPAddress("::")), port: 98) == nil)
    }

    @Test func theUnspecifiedAddressIsTheLoopback() throws {
        let rules = try rules(addresses: ["::1"])
        #expect(!admits(rules, "[::]") && !admits(rules, "[::1]") && admits(rules, "[::2]") && admits(rules, "0.0.0.0"))
    }

    @Test func allowedHostsAreTheOnlyOnes() throws {
        let rules = try rules(allow: ["example.org", ".example.net", "10.0.0.1"])
        for host in ["example.org", "example.net", "a.example.net", "10.0.0.1", "[::ffff:10.0.0.1]"] {
            #expect(admits(rules, host), "\(host)")
        }
        for host in ["example.com", "a.example.org", "10.0.0.2", "localhost"] {
            #expect(!admits(rules, host), "\(host)")
        }
    }

    @Test func beingAllowedLiftsNoDenial() throws {
        let rules = try rules(
            deny: ["secret.example.org"], addresses: ["10.0.0.0/8"], allow: [".example.org", "10.0.0.1"])
        #expect(admits(rules, "www.example.org"))
        #expect(!admits(rules, "secret.example.org") && !admits(rules, "10.0.0.1"))
        #expect(rules.refusal(ofAddress: try #require(IPAddress("10.1.1.1")), port: 1) != nil)
        // An allowed name may lead anywhere that is not denied.
        #expect(rules.refusal(ofAddress: try #require(IPAddress("192.0.2.1")), port: 1) == nil)
    }

    @Test func theRefusalSaysWhichLineOfTheConfigurationItIs() throws {
        let rules = try rules(
            deny: [".bad.example"], addresses: ["fe80::/10"], allow: ["good.example", "x.bad.example"])
        #expect(
            rules.refusal(ofHost: "x.bad.example", port: 1)?.description
                == "x.bad.example is denied: it matches .bad.example of network.deny_hosts")
        #expect(
            rules.refusal(ofHost: "[fe80::1]", port: 1)?.description
                == "fe80::1 is denied: it lies in fe80::/10 of network.deny_addresses")
        #expect(rules.refusal(ofHost: "other.example", port: 1)?.description.contains("network.allow_hosts") == true)
        let refusal = try #require(rules.refusal(ofHost: "[fe80::1]", port: 1))
        let error = TransferError(refusal, host: "name.example:8443")
        #expect(error.reason == .rejectedByPolicy && !error.isRetriable && error.host == "name.example:8443")
        #expect(error.message.hasPrefix("name.example:8443: fe80::1 is denied"))
    }

    /// Every list against a second statement of the rule, on all combinations of a few hosts.
    @Test func allCombinationsFollowTheOrder() throws {
        let hosts = ["a.example", "b.example", "10.0.0.1", "[::ffff:10.0.0.1]"]
        let patterns = ["a.example", ".example", "10.0.0.1"]
        for denied in 0..<8 {
            for allowed in 0..<8 {
                for block in [[], ["10.0.0.0/8"]] {
                    let deny = (0..<3).filter { denied & 1 << $0 != 0 }.map { patterns[$0] }
                    let allow = (0..<3).filter { allowed & 1 << $0 != 0 }.map { patterns[$0] }
                    let rules = try rules(deny: deny, addresses: block, allow: allow)
                    for host in hosts {
                        let isAddress = host.contains("10.0.0.1")
                        func named(_ list: [String]) -> Bool {
                            isAddress
                                ? list.contains("10.0.0.1")
                                : list.contains(".example") || host == "a.example" && list.contains("a.example")
                        }
                        let isRefused = named(deny) || isAddress && !block.isEmpty || !allow.isEmpty && !named(allow)
                        #expect(admits(rules, host) != isRefused, "\(host) \(deny) \(block) \(allow)")
                    }
                }
            }
        }
    }
}
