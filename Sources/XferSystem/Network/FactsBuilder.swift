import CLinux
import XferModel

/// Makes `NetworkFacts` from the messages of three dumps: links, addresses and routes. It skips unknown messages.
struct FactsBuilder {
    private(set) var facts = NetworkFacts()

    mutating func apply(_ message: NetlinkMessage) {
        switch Int(clamping: message.type) {
        case Int(RTM_NEWLINK): applyLink(message)
        case Int(RTM_NEWADDR): applyAddress(message)
        case Int(RTM_NEWROUTE): applyRoute(message)
        default: break
        }
    }

    private mutating func applyLink(_ message: NetlinkMessage) {
        guard let body = message.payload.read(ifinfomsg.self), body.ifi_index > 0 else { return }
        let name = message.attributes(after: ifinfomsg.self)[UInt16(IFLA_IFNAME)] ?? []
        facts.links.insert(
            NetworkFacts.Link(
                index: body.ifi_index, name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self),
                isRunning: body.ifi_flags & Flags.running == Flags.running,
                isLoopback: body.ifi_flags & Flags.loopback != 0))
    }

    private mutating func applyAddress(_ message: NetlinkMessage) {
        guard let body = message.payload.read(ifaddrmsg.self), let link = Int32(exactly: body.ifa_index) else { return }
        let attributes = message.attributes(after: ifaddrmsg.self)
        // On a point-to-point link IFA_ADDRESS is the address of the other end, so IFA_LOCAL is preferred.
        guard let bytes = attributes[UInt16(IFA_LOCAL)] ?? attributes[UInt16(IFA_ADDRESS)],
            let address = IPAddress(bytes: Array(bytes)), address.isIPv6 == (body.ifa_family == Family.ipv6)
        else { return }
        let flags = attributes[UInt16(IFA_FLAGS)]?.read(UInt32.self) ?? UInt32(clamping: body.ifa_flags)
        facts.addresses.insert(
            NetworkFacts.Address(
                link: link, address: address, prefixLength: Int(clamping: body.ifa_prefixlen),
                isGlobal: body.ifa_scope < Scope.link, isUsable: flags & Flags.notYet == 0))
    }

    private mutating func applyRoute(_ message: NetlinkMessage) {
        guard let body = message.payload.read(rtmsg.self), Int(clamping: body.rtm_type) == Int(RTN_UNICAST),
            body.rtm_family == Family.ipv4 || body.rtm_family == Family.ipv6, body.rtm_flags & Flags.cloned == 0
        else { return }
        let attributes = message.attributes(after: rtmsg.self)
        let table = attributes[RTA_TABLE]?.read(UInt32.self) ?? UInt32(clamping: body.rtm_table)
        guard table != RT_TABLE_LOCAL.rawValue else { return }
        let metric = attributes[RTA_PRIORITY]?.read(UInt32.self) ?? 0
        var links = attributes[RTA_OIF]?.read(Int32.self).map { [$0] } ?? []
        if let hops = attributes[RTA_MULTIPATH] { links += Self.links(of: hops) }
        guard body.rtm_dst_len == 0 else {
            var digest = RouteDigest()
            for value in [UInt32(clamping: body.rtm_family), UInt32(clamping: body.rtm_dst_len), table, metric] {
                digest.add(value)
            }
            for link in links { digest.add(UInt32(bitPattern: link)) }
            digest.add(attributes[RTA_DST] ?? [])
            digest.add(attributes[RTA_GATEWAY] ?? [])
            facts.otherRoutes += 1
            // The digests are added, because the kernel reports the routes in no fixed order.
            facts.otherRoutesDigest &+= digest.value
            return
        }
        facts.defaultRoutes.insert(
            NetworkFacts.DefaultRoute(
                isIPv6: body.rtm_family == Family.ipv6, isMain: table == RT_TABLE_MAIN.rawValue, metric: metric,
                links: links))
    }

    /// The links of the hops of a multipath route.
    private static func links(of hops: ArraySlice<UInt8>) -> [Int32] {
        var links: [Int32] = []
        var rest = hops
        while let hop = rest.read(rtnexthop.self) {
            let length = Int(clamping: hop.rtnh_len)
            guard length >= MemoryLayout<rtnexthop>.size, length <= rest.count else { break }
            links.append(hop.rtnh_ifindex)
            rest = rest.dropFirst(aligned(length))
        }
        return links
    }

    private enum Family {
        static let ipv4: UInt8 = 2
        static let ipv6: UInt8 = 10
    }

    private enum Scope {
        /// The scope RT_SCOPE_LINK. Scopes with greater numbers are narrower.
        static let link: UInt8 = 253
    }

    private enum Flags {
        /// The flags IFF_UP and IFF_RUNNING.
        static let running: UInt32 = 0x1 | 0x40
        /// The flag IFF_LOOPBACK.
        static let loopback: UInt32 = 0x8
        /// The flags IFA_F_DADFAILED and IFA_F_TENTATIVE: the address cannot be used, or not yet. An address with
        /// IFA_F_OPTIMISTIC is also tentative. It could be used already, but does not count.
        static let notYet: UInt32 = 0x8 | 0x40
        /// The flag RTM_F_CLONED: the route is a cache entry.
        static let cloned: UInt32 = 0x200
    }
}

extension [UInt16: ArraySlice<UInt8>] {
    fileprivate subscript(type: rtattr_type_t) -> ArraySlice<UInt8>? { self[UInt16(clamping: type.rawValue)] }
}

/// A 64-bit FNV-1a hash of the properties of a route.
private struct RouteDigest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(clamping: byte)) &* 0x100_0000_01B3 }
        value = (value ^ 0xFF) &* 0x100_0000_01B3
    }

    mutating func add(_ number: UInt32) {
        add((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}
