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

    @Test func withoutListsEveryHostIsAdmitted() throws {
        let rules = AdmissionRules()
        for host in ["example.org", "localhost", "127.0.0.1", "[::1]", "169.254.169.254"] {
            #expect(admits(rules, host))
        }
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.2", "127.255.255.254", "[::ffff:127.0.0.2]", "[::127.0.0.2]", "[64:ff9b::7f00:2]",
        "0.0.0.0", "192.0.2.1",
    ])
    func anOwnListenerIsRefusedInEverySpellingAndOnlyAtItsPort(host: String) throws {
        let blocks = try ["127.0.0.0/8", "192.0.2.1"].map { try #require(AddressBlock($0)) }
        let rules = AdmissionRules(
            AdmissionLists(
                ownListeners: blocks.map { ListenerAddresses($0, port: 6800) },
                allowedHosts: [try HostPattern(host)]))
        #expect(rules.refusal(ofHost: host, port: 6800)?.cause == .ownListener(port: 6800))
        #expect(admits(rules, host, port: 6801))
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
    func aDeniedAddressIsRefusedInEverySpelling(host: String) throws {
        for list in [try rules(addresses: ["127.0.0.0/8"]), try rules(addresses: ["::ffff:127.0.0.0/104"])] {
            #expect(!admits(list, host))
            let address = try #require(IPAddress(host: host))
            #expect(list.refusal(ofAddress: address, port: 1) != nil)
        }
    }

    /// Every form an IPv4 address can be written in, with every first byte, against blocks that begin and end anywhere.
    @Test func aDeniedIPv4RangeCoversEveryFormThatLeadsIntoIt() throws {
        let prefix = try #require(TranslationPrefix("2001:db8:64::/48"))
        let forms: [(String, ([UInt8]) -> [UInt8])] = [
            ("mapped", { [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + $0 }),
            ("compatible", { [UInt8](repeating: 0, count: 12) + $0 }),
            ("translated", { [UInt8](repeating: 0, count: 8) + [0xff, 0xff, 0, 0] + $0 }),
            ("NAT64", { [0, 0x64, 0xff, 0x9b] + [UInt8](repeating: 0, count: 8) + $0 }),
            ("local NAT64 /48", { [0, 0x64, 0xff, 0x9b, 0, 1, $0[0], $0[1], 0, $0[2], $0[3], 0, 0, 0, 0, 0] }),
            ("local NAT64 /96", { [0, 0x64, 0xff, 0x9b, 0, 1, 7, 7, 0, 7, 7, 7] + $0 }),
            ("own NAT64", { [0x20, 1, 0xd, 0xb8, 0, 0x64, $0[0], $0[1], 0, $0[2], $0[3], 0, 0, 0, 0, 0] }),
            ("6to4", { [0x20, 2] + $0 + [UInt8](repeating: 1, count: 10) }),
            ("Teredo server", { [0x20, 1, 0, 0] + $0 + [0, 0, 0xff, 0xff, 0x37, 0x37, 0x37, 0x37] }),
            ("Teredo client", { [0x20, 1, 0, 0, 200, 200, 200, 200, 0, 0, 0xff, 0xff] + $0.map { ~$0 } }),
            ("ISATAP", { [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x5e, 0xfe] + $0 }),
            ("global ISATAP", { [0x20, 1, 0xd, 0xb8, 1, 1, 1, 1, 2, 0, 0x5e, 0xfe] + $0 }),
        ]
        for block in ["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/17", "224.0.0.0/3"] {
            var rules = try rules(addresses: [block])
            rules = AdmissionRules(
                AdmissionLists(deniedAddresses: rules.lists.deniedAddresses, translationPrefixes: [prefix]))
            for first in UInt8.min...UInt8.max {
                for second: UInt8 in [0, 15, 16, 31, 32, 127, 128, 168, 254, 255] {
                    let plain = [first, second, 129, 3]
                    let isDenied = rules.refusal(ofAddress: try #require(IPAddress(bytes: plain)), port: 1) != nil
                    for (name, form) in forms {
                        let address = try #require(IPAddress(bytes: form(plain)))
                        let refusal = rules.refusal(ofAddress: address, port: 1)
                        // A form whose place is open may deny more, never less.
                        let mayDenyMore = name.hasPrefix("local NAT64")
                        #expect(
                            (refusal != nil) == isDenied || mayDenyMore && !isDenied,
                            "\(name) \(address) of \(plain) with \(block)")
                    }
                }
            }
        }
    }

    @Test func anAllowedIPv4AddressAllowsNoIPv6FormThatMayLeadElsewhere() throws {
        let rules = try rules(allow: ["10.0.0.1"])
        #expect(admits(rules, "[::ffff:10.0.0.1]") && admits(rules, "[64:ff9b::10.0.0.1]"))
        for host in ["[2002:a00:1::1]", "[::10.0.0.1]", "[fe80::5efe:10.0.0.1]", "[2001:0:a00:1::1]"] {
            #expect(!admits(rules, host), "\(host)")
        }
    }

    @Test func aDeniedPatternThatIsAnAddressAppliesToConnections() throws {
        let rules = try rules(deny: ["127.0.0.1", "[::1]:99"])
        #expect(!admits(rules, "[::ffff:127.0.0.1]") && admits(rules, "127.0.0.2"))
        #expect(rules.refusal(ofAddress: try #require(IPAddress("127.0.0.1")), port: 1) != nil)
        #expect(rules.refusal(ofAddress: try #require(IPAddress("::")), port: 99) != nil)
        #expect(rules.refusal(ofAddress: try #require(IPAddress("::")), port: 98) == nil)
    }

    @Test func theUnspecifiedAddressIsTheLoopback() throws {
        let rules = try rules(addresses: ["::1"])
        #expect(!admits(rules, "[::]") && !admits(rules, "[::1]") && admits(rules, "[::2]") && admits(rules, "0.0.0.0"))
    }

    @Test func onlyAllowedHostsAreAdmittedIfAnyIsListed() throws {
        let rules = try rules(allow: ["example.org", ".example.net", "10.0.0.1"])
        for host in ["example.org", "example.net", "a.example.net", "10.0.0.1", "[::ffff:10.0.0.1]"] {
            #expect(admits(rules, host), "\(host)")
        }
        for host in ["example.com", "a.example.org", "10.0.0.2", "localhost"] {
            #expect(!admits(rules, host), "\(host)")
        }
    }

    @Test func anAllowedHostThatIsAlsoDeniedIsRefused() throws {
        let rules = try rules(
            deny: ["secret.example.org"], addresses: ["10.0.0.0/8"], allow: [".example.org", "10.0.0.1"])
        #expect(admits(rules, "www.example.org"))
        #expect(!admits(rules, "secret.example.org") && !admits(rules, "10.0.0.1"))
        #expect(rules.refusal(ofAddress: try #require(IPAddress("10.1.1.1")), port: 1) != nil)
        // An allowed name may lead anywhere that is not denied.
        #expect(rules.refusal(ofAddress: try #require(IPAddress("192.0.2.1")), port: 1) == nil)
    }

    @Test func aRefusalNamesTheLineOfTheConfiguration() throws {
        let rules = try rules(
            deny: [".bad.example"], addresses: ["fe80::/10"], allow: ["good.example", "x.bad.example"])
        #expect(
            rules.refusal(ofHost: "x.bad.example", port: 1)?.description
                == "x.bad.example is denied: it matches .bad.example of network.deny_hosts")
        #expect(
            rules.refusal(ofHost: "[fe80::1]", port: 1)?.description
                == "fe80::1 is denied: it is in fe80::/10 of network.deny_addresses")
        #expect(rules.refusal(ofHost: "other.example", port: 1)?.description.contains("network.allow_hosts") == true)
        let refusal = try #require(rules.refusal(ofHost: "[fe80::1]", port: 1))
        let error = TransferError(refusal, host: "name.example:8443")
        #expect(error.reason == .rejectedByPolicy && !error.isRetriable && error.host == "name.example:8443")
        #expect(error.message.hasPrefix("name.example:8443: fe80::1 is denied"))
    }

    /// Every list against a second statement of the rule, on all combinations of a few hosts.
    @Test func everyCombinationOfListsFollowsTheOrderOfTheRules() throws {
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
