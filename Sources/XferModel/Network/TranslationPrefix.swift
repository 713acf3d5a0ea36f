/// A prefix whose IPv6 addresses embed an IPv4 address (RFC 6052 §2.2): `2001:db8:64::/96`.
public struct TranslationPrefix: Hashable, Sendable, CustomStringConvertible {
    public let block: AddressBlock

    /// The allowed lengths of a prefix, and the bytes of the IPv4 address for each; byte 8 is not used.
    static let places: [Int: [Int]] = [
        32: [4, 5, 6, 7], 40: [5, 6, 7, 9], 48: [6, 7, 9, 10], 56: [7, 9, 10, 11], 64: [9, 10, 11, 12],
        96: [12, 13, 14, 15],
    ]

    /// Parses an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits. Returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard let block = AddressBlock(text), block.first.isIPv6, Self.places[block.length] != nil else { return nil }
        self.block = block
    }

    /// The IPv4 address embedded in an address with the prefix; nil for others.
    public func embedded(in address: IPAddress) -> IPAddress? {
        block.contains(address) ? address.ipv4(at: block.length) : nil
    }

    public var description: String { block.description }
}

extension IPAddress {
    /// The IPv4 addresses that a connection to this IPv6 address may really reach, by its known forms.
    ///
    /// If a form does not determine the position of the IPv4 address, the result has all possible ones. If the address
    /// has no such form, the result is empty.
    /// - Parameter prefixes: the network's own.
    public func embeddedIPv4(translatedBy prefixes: [TranslationPrefix] = []) -> [IPAddress] {
        guard isIPv6 else { return [] }
        var found = EmbeddedForm.allCases.flatMap { $0.addresses(in: self) }
        found += prefixes.compactMap { $0.embedded(in: self) }
        return found
    }

    /// The four bytes behind an RFC 6052 prefix of that length.
    fileprivate func ipv4(at length: Int) -> IPAddress? {
        TranslationPrefix.places[length].flatMap { places in IPAddress(bytes: places.map { bytes[$0] }) }
    }
}

/// The forms of IPv6 addresses that embed an IPv4 address in any network.
enum EmbeddedForm: CaseIterable {
    /// `::ffff:a.b.c.d`, RFC 4291 §2.5.5.2.
    case mapped
    /// `::a.b.c.d`, RFC 4291 §2.5.5.1; the unspecified address and the loopback are none.
    case compatible
    /// `::ffff:0:a.b.c.d`, RFC 2765 §2.1.
    case translated
    /// `64:ff9b::a.b.c.d`, RFC 6052 §2.1.
    case wellKnownPrefix
    /// `64:ff9b:1::/48`, RFC 8215: the network chooses a prefix of its own in it.
    case localUsePrefix
    /// `2002:AABB:CCDD::/48`, RFC 3056 §2.
    case sixToFour
    /// `2001:0::/32`, RFC 4380 §4: the server, and with all bits turned the client.
    case teredo
    /// Interface identifier `0000:5efe:a.b.c.d` or `0200:5efe:a.b.c.d`, RFC 5214 §6.1.
    case isatap

    func addresses(in address: IPAddress) -> [IPAddress] {
        let bytes = address.bytes
        func begins(with prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
        func ipv4(_ range: Range<Int>) -> [IPAddress] { IPAddress(bytes: Array(bytes[range])).map { [$0] } ?? [] }
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
        switch self {
        case .mapped: return begins(with: zeros(10) + [0xff, 0xff]) ? ipv4(12..<16) : []
        case .compatible:
            return begins(with: zeros(12)) && bytes[12...].contains { $0 != 0 } && !begins(with: zeros(15) + [1])
                ? ipv4(12..<16) : []
        case .translated: return begins(with: zeros(8) + [0xff, 0xff, 0, 0]) ? ipv4(12..<16) : []
        case .wellKnownPrefix: return begins(with: [0, 0x64, 0xff, 0x9b] + zeros(8)) ? ipv4(12..<16) : []
        case .localUsePrefix:
            guard begins(with: [0, 0x64, 0xff, 0x9b, 0, 1]) else { return [] }
            return [48, 56, 64, 96].compactMap { address.ipv4(at: $0) }
        case .sixToFour: return begins(with: [0x20, 0x02]) ? ipv4(2..<6) : []
        case .teredo:
            guard begins(with: [0x20, 0x01, 0, 0]) else { return [] }
            return ipv4(4..<8) + (IPAddress(bytes: bytes[12...].map { ~$0 }).map { [$0] } ?? [])
        case .isatap:
            // The universal and group bits of the identifier may be set.
            return bytes[8] & 0xfc == 0 && bytes[9...11].elementsEqual([0, 0x5e, 0xfe]) ? ipv4(12..<16) : []
        }
    }
}

extension IPAddress {
    /// The address, and those that certainly are the same one: IPv4-mapped, and NAT64 if its prefix is known.
    public func certainMeanings(translatedBy prefixes: [TranslationPrefix] = []) -> [IPAddress] {
        let translated = prefixes.lazy.compactMap { $0.embedded(in: self) }.first
        let found = [self] + [mappedIPv4 ?? wellKnownIPv4 ?? translated].compactMap(\.self)
        return found + found.compactMap(\.loopbackMeant)
    }

    /// The IPv4 address in one of NAT64's well-known prefix, 64:ff9b::/96 (RFC 6052 §2.1).
    private var wellKnownIPv4: IPAddress? { Self.wellKnownPrefix?.embedded(in: self) }

    private static let wellKnownPrefix = TranslationPrefix("64:ff9b::/96")

    /// The loopback address that connect(2) reaches for the unspecified address.
    public var loopbackMeant: IPAddress? {
        guard bytes.allSatisfy({ $0 == 0 }) else { return nil }
        return IPAddress(isIPv6 ? "::1" : "127.0.0.1")
    }
}
