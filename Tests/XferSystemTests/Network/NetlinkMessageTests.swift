import CLinux
import Testing
import XferModel
import XferTestSupport

@testable import XferSystem

/// Whatever bytes come: they are read as far as they make sense.
@Suite struct NetlinkMessageTests {
    private static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    static func message(_ type: Int, _ body: [UInt8]) -> [UInt8] {
        let header = nlmsghdr(
            nlmsg_len: UInt32(16 + body.count), nlmsg_type: UInt16(type), nlmsg_flags: 0, nlmsg_seq: 7, nlmsg_pid: 0)
        return padded(bytes(of: header) + body)
    }

    static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        padded(bytes(of: rtattr(rta_len: UInt16(4 + value.count), rta_type: UInt16(type))) + value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: aligned(bytes.count) - bytes.count)
    }

    private static func link(_ index: Int32, _ name: String, flags: UInt32) -> [UInt8] {
        var body = ifinfomsg()
        body.ifi_index = index
        body.ifi_flags = flags
        return message(Int(RTM_NEWLINK), bytes(of: body) + attribute(Int(IFLA_IFNAME), Array(name.utf8) + [0]))
    }

    private static func route(_ attributes: [UInt8], _ change: (inout rtmsg) -> Void = { _ in }) -> [UInt8] {
        var body = rtmsg()
        body.rtm_family = 2
        body.rtm_table = 254
        body.rtm_type = UInt8(RTN_UNICAST)
        change(&body)
        return message(Int(RTM_NEWROUTE), bytes(of: body) + attributes)
    }

    private static func facts(_ datagram: [UInt8]) -> NetworkFacts {
        var builder = FactsBuilder()
        for message in NetlinkMessage.messages(in: datagram[...]) { builder.apply(message) }
        return builder.facts
    }

    private static func word(_ value: UInt32) -> [UInt8] { bytes(of: value) }

    private static let everything: [UInt8] = {
        var address = ifaddrmsg()
        (address.ifa_family, address.ifa_index, address.ifa_prefixlen) = (2, 3, 24)
        let hop = rtnexthop(rtnh_len: 8, rtnh_flags: 0, rtnh_hops: 0, rtnh_ifindex: 4)
        return link(3, "eth0", flags: 0x41)
            + message(Int(RTM_NEWADDR), bytes(of: address) + attribute(Int(IFA_LOCAL), [198, 51, 100, 7]))
            + route(attribute(Int(RTA_OIF.rawValue), word(3)) + attribute(Int(RTA_PRIORITY.rawValue), word(100)))
            + route(attribute(Int(RTA_MULTIPATH.rawValue), bytes(of: hop) + bytes(of: hop)))
            + route(attribute(Int(RTA_DST.rawValue), [10, 0, 0, 0])) { $0.rtm_dst_len = 8 }
    }()

    @Test func linksAddressesAndRoutesAreParsed() throws {
        let facts = Self.facts(Self.everything)
        #expect(facts.links == [NetworkFacts.Link(index: 3, name: "eth0", isRunning: true)])
        let address = try #require(IPAddress("198.51.100.7"))
        #expect(facts.addresses == [NetworkFacts.Address(link: 3, address: address, prefixLength: 24)])
        #expect(
            facts.defaultRoutes == [
                NetworkFacts.DefaultRoute(metric: 100, links: [3]), NetworkFacts.DefaultRoute(links: [4, 4]),
            ])
        #expect(facts.otherRoutes == 1 && facts.otherRoutesDigest != 0)
    }

    @Test func aRouteThatLeadsNowhereIsNotADefaultRoute() {
        let blackhole = Self.route([]) { $0.rtm_type = UInt8(RTN_BLACKHOLE) }
        let local = Self.route(Self.attribute(Int(RTA_TABLE.rawValue), Self.word(255)))
        let cloned = Self.route([]) { $0.rtm_flags = 0x200 }
        let foreign = Self.route([]) { $0.rtm_family = 28 }
        #expect(Self.facts(blackhole + local + cloned + foreign) == NetworkFacts())
    }

    @Test func aTentativeAddressIsNotUsable() throws {
        var body = ifaddrmsg()
        (body.ifa_family, body.ifa_index, body.ifa_prefixlen, body.ifa_scope) = (10, 2, 64, 253)
        body.ifa_flags = 0x40
        let text = Self.attribute(Int(IFA_ADDRESS), [0xFE, 0x80] + [UInt8](repeating: 1, count: 14))
        let found = try #require(
            Self.facts(Self.message(Int(RTM_NEWADDR), Self.bytes(of: body) + text)).addresses.first)
        #expect(!found.isUsable && !found.isGlobal && found.address.isIPv6)
    }

    /// Cut short anywhere, or with any byte changed: read in part, never wrongly far.
    @Test func brokenBytesAreHarmless() {
        for end in Self.everything.indices { _ = Self.facts(Array(Self.everything[..<end])) }
        var random = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            var broken = Self.everything
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                if let index = broken.indices.randomElement(using: &random) {
                    broken[index] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let facts = Self.facts(broken)
            #expect(facts.links.count + facts.addresses.count + facts.defaultRoutes.count <= 5)
        }
    }

    @Test func aWrongLengthEndsTheParsing() {
        for length: UInt32 in [0, 1, 15, 17, .max] {
            var lying = Self.everything
            lying.replaceSubrange(0..<4, with: Self.word(length))
            let count = NetlinkMessage.messages(in: lying[...]).count
            #expect(length == 17 ? count >= 1 : count == 0)
        }
        #expect(NetlinkMessage.attributes(in: [0, 0, 1, 0, 9, 9]).isEmpty)
        #expect(NetlinkMessage.attributes(in: [3, 0]).isEmpty)
    }
}
