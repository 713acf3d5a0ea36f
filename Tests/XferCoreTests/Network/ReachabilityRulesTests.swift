import Testing
import XferCore
import XferModel

/// What links, addresses and default routes come to.
@Suite struct ReachabilityRulesTests {
    static let ipv4 = IPAddress(bytes: [198, 51, 100, 7])
    static let ipv6 = IPAddress(bytes: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 1, count: 12))

    private func state(_ facts: NetworkFacts?, _ metered: String...) -> NetworkState {
        ReachabilityRules.state(of: facts, metered: metered.compactMap { InterfacePattern($0) })
    }

    @Test func withoutFactsTheNetworkIsUnknown() {
        #expect(state(nil) == .unknown)
        #expect(state(nil, "*") == .unknown)
    }

    @Test func withoutInterfacesTheNetworkIsOffline() {
        #expect(state(NetworkFacts()) == .offline)
    }

    /// Every combination of what one interface and its default route can be: one alone is online.
    @Test func onlyARunningLinkWithAnAddressAndARouteOfItsFamilyIsOnline() {
        var online = 0
        for bits in 0..<256 {
            func has(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            let (isRunning, isLoopback, hasAddress, isGlobal, isUsable) = (has(0), has(1), has(2), has(3), has(4))
            let (hasRoute, isRouteIPv6, leadsThere) = (has(5), has(6), has(7))
            for isIPv6 in [false, true] {
                var facts = NetworkFacts()
                facts.links = [
                    NetworkFacts.Link(index: 2, name: "eth0", isRunning: isRunning, isLoopback: isLoopback)
                ]
                if hasAddress, let address = isIPv6 ? Self.ipv6 : Self.ipv4 {
                    facts.addresses = [
                        NetworkFacts.Address(
                            link: 2, address: address, prefixLength: 24, isGlobal: isGlobal, isUsable: isUsable)
                    ]
                }
                if hasRoute {
                    facts.defaultRoutes = [NetworkFacts.DefaultRoute(isIPv6: isRouteIPv6, links: [leadsThere ? 2 : 3])]
                }
                let isOnline =
                    isRunning && !isLoopback && hasAddress && isGlobal && isUsable && hasRoute && leadsThere
                    && isRouteIPv6 == isIPv6
                #expect(state(facts) == (isOnline ? .unmetered : .offline), "\(facts)")
                #expect(state(facts, "eth*") == (isOnline ? .metered : .offline), "\(facts)")
                online += isOnline ? 1 : 0
            }
        }
        #expect(online == 2)
    }

    private func facts(_ routes: NetworkFacts.DefaultRoute...) -> NetworkFacts {
        var facts = NetworkFacts()
        for (index, name) in [(Int32(2), "eth0"), (3, "wwan0"), (4, "wlan0")] {
            facts.links.insert(NetworkFacts.Link(index: index, name: name, isRunning: name != "wlan0"))
            for address in [Self.ipv4, Self.ipv6].compactMap(\.self) {
                facts.addresses.insert(NetworkFacts.Address(link: index, address: address, prefixLength: 24))
            }
        }
        facts.defaultRoutes = Set(routes)
        return facts
    }

    @Test func theRouteOfLowestMetricDecidesWhetherTheNetworkIsMetered() {
        let (cheap, dear) = (
            NetworkFacts.DefaultRoute(metric: 100, links: [2]), NetworkFacts.DefaultRoute(metric: 700, links: [3])
        )
        #expect(state(facts(cheap, dear), "wwan*") == .unmetered)
        #expect(state(facts(cheap, dear), "eth0") == .metered)
        #expect(state(facts(dear), "wwan*") == .metered)
        #expect(state(facts(dear), "wwan", "wan*", "usb?") == .unmetered)
    }

    @Test func aRouteOverALinkThatIsDownDoesNotCount() {
        let (down, dear) = (
            NetworkFacts.DefaultRoute(metric: 0, links: [4]), NetworkFacts.DefaultRoute(metric: 700, links: [3])
        )
        #expect(state(facts(down, dear), "wwan0") == .metered)
        #expect(state(facts(down)) == .offline)
    }

    @Test func oneMeteredRouteAmongEqualsMakesTheNetworkMetered() {
        #expect(state(facts(NetworkFacts.DefaultRoute(links: [2, 3])), "wwan0") == .metered)
        #expect(
            state(facts(NetworkFacts.DefaultRoute(links: [2]), NetworkFacts.DefaultRoute(links: [3])), "wwan0")
                == .metered)
        #expect(
            state(
                facts(NetworkFacts.DefaultRoute(links: [2]), NetworkFacts.DefaultRoute(isIPv6: true, links: [3])),
                "wwan0") == .metered)
    }

    @Test func otherRoutingTablesCountOnlyIfTheMainTableHasNoDefaultRoute() {
        let (main, other) = (
            NetworkFacts.DefaultRoute(metric: 700, links: [2]), NetworkFacts.DefaultRoute(isMain: false, links: [3])
        )
        #expect(state(facts(main, other), "wwan0") == .unmetered)
        #expect(state(facts(other), "wwan0") == .metered)
    }

    @Test func gainsAndLossesAreOpposites() {
        let full = facts(NetworkFacts.DefaultRoute(links: [2]))
        func change(_ body: (inout NetworkFacts) -> Void) -> NetworkFacts {
            var copy = full
            body(&copy)
            return copy
        }
        let lesser: [(NetworkFacts, Bool)] = [
            (change { $0.links = $0.links.filter { $0.name != "eth0" } }, true),
            (
                change { facts in
                    facts.links = Set(
                        facts.links.map {
                            NetworkFacts.Link(index: $0.index, name: $0.name, isRunning: false)
                        })
                }, true
            ),
            (change { $0.addresses = $0.addresses.filter { $0.link != 2 } }, true),
            (change { $0.defaultRoutes = [] }, false),
        ]
        for (less, isLoss) in lesser {
            #expect(ReachabilityRules.hasGained(from: less, to: full))
            #expect(!ReachabilityRules.hasGained(from: full, to: less))
            #expect(ReachabilityRules.hasLost(from: full, to: less) == isLoss)
            #expect(!ReachabilityRules.hasLost(from: less, to: full))
        }
        // A container's end of a link.
        let more = change { $0.links.insert(NetworkFacts.Link(index: 9, name: "veth1", isRunning: true)) }
        for (old, new) in [(full, more), (more, full)] {
            #expect(!ReachabilityRules.hasGained(from: old, to: new) && !ReachabilityRules.hasLost(from: old, to: new))
        }
        #expect(!ReachabilityRules.hasGained(from: full, to: full))
        let other = change { ($0.otherRoutes, $0.otherRoutesDigest) = (1, 5) }
        #expect(ReachabilityRules.hasGained(from: full, to: other))
        #expect(!ReachabilityRules.hasGained(from: other, to: full))
        #expect(ReachabilityRules.hasGained(from: nil, to: full) && ReachabilityRules.hasGained(from: full, to: nil))
    }

    @Test(arguments: [
        ("eth0", "eth0", true), ("eth0", "eth01", false), ("eth?", "eth0", true), ("eth?", "eth", false),
        ("*", "", true), ("*", "ppp0", true), ("w*0", "wwan0", true), ("w*0", "wwan01", false), ("*a*b", "aab", true),
        ("*a*b", "aba", false), ("**0", "eth0", true), ("Eth0", "eth0", false), ("a*", "", false),
    ])
    func interfacePatternsMatchNames(pattern: String, name: String, isMatch: Bool) throws {
        #expect(try #require(InterfacePattern(pattern)).matches(name) == isMatch)
    }

    @Test(arguments: ["", "a b", "a/b", "sixteencharacter", "a\u{1}"])
    func aTextThatNoInterfaceCanHaveIsNotAPattern(text: String) {
        #expect(InterfacePattern(text) == nil)
    }

    @Test func onlyNetworkFailuresAreExcusedByALostNetwork() {
        for reason in FailureReason.allCases {
            let error = TransferError(reason, "x")
            #expect(NetworkCondition.online.explanation(of: error) == nil)
            let isUnreachable = reason == .networkUnreachable || reason == .dnsFailure
            #expect(
                NetworkCondition(isOffline: true).explanation(of: error) == (isUnreachable ? .waits : nil), "\(reason)")
            let isConnection = [
                .connectFailed, .connectTimeout, .connectionLost, .idleTimeout, .tooSlow, .shortBody,
            ].contains(reason)
            #expect(
                NetworkCondition(hasLostSinceStart: true).explanation(of: error)
                    == (isUnreachable || isConnection ? .again : nil), "\(reason)")
            #expect(
                NetworkCondition(isOffline: true, hasLostSinceStart: true).explanation(of: error)
                    == (isUnreachable ? .waits : isConnection ? .again : nil), "\(reason)")
        }
    }
}

/// What distinguishes one network from another.
@Suite struct NetworkIdentityTests {
    private static func facts(
        _ addresses: [(Int32, String, Int)], route: Int32? = 2
    ) -> NetworkFacts {
        var facts = NetworkFacts()
        for (index, name) in [(Int32(2), "eth0"), (3, "veth7")] {
            facts.links.insert(NetworkFacts.Link(index: index, name: name, isRunning: true))
        }
        for (link, text, length) in addresses {
            guard let address = IPAddress(text) else { continue }
            facts.addresses.insert(NetworkFacts.Address(link: link, address: address, prefixLength: length))
        }
        facts.defaultRoutes = Set(
            route.map {
                [NetworkFacts.DefaultRoute(links: [$0]), NetworkFacts.DefaultRoute(isIPv6: true, links: [$0])]
            }
                ?? [])
        return facts
    }

    private static let home = [(Int32(2), "198.51.100.7", 24), (2, "2001:db8:1::7", 64)]

    @Test func withoutADefaultRouteThereIsNone() {
        #expect(ReachabilityRules.identity(of: nil) == nil)
        #expect(ReachabilityRules.identity(of: NetworkFacts()) == nil)
        #expect(ReachabilityRules.identity(of: Self.facts(Self.home, route: nil)) == nil)
    }

    @Test func containersAndTemporaryAddressesOfOneSubnetDoNotChangeIt() {
        let identity = ReachabilityRules.identity(of: Self.facts(Self.home))
        #expect(identity == "eth0 198.51.100.7/24 2001:db8:1::/64")
        let container = Self.home + [(3, "172.17.0.1", 16)]
        #expect(ReachabilityRules.identity(of: Self.facts(container)) == identity)
        let temporary = Self.home + [(2, "2001:db8:1::abcd", 64)]
        #expect(ReachabilityRules.identity(of: Self.facts(temporary)) == identity)
    }

    @Test(arguments: [
        [(Int32(2), "198.51.100.8", 24), (2, "2001:db8:1::7", 64)],
        [(2, "198.51.100.7", 24), (2, "2001:db8:2::7", 64)], [(2, "198.51.100.7", 16), (2, "2001:db8:1::7", 64)],
        [(2, "198.51.100.7", 24)],
    ]) func anotherAddressOrSubnetIsAnotherNetwork(addresses: [(Int32, String, Int)]) {
        #expect(
            ReachabilityRules.identity(of: Self.facts(addresses))
                != ReachabilityRules.identity(of: Self.facts(Self.home)))
    }

    @Test func anotherLinkIsAnotherNetwork() {
        let both = Self.home + [(Int32(3), "203.0.113.7", 24)]
        #expect(
            ReachabilityRules.identity(of: Self.facts(both, route: 3))
                != ReachabilityRules.identity(of: Self.facts(both, route: 2)))
    }
}
