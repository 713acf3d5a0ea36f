/// Addresses with a common prefix (RFC 4632 §3.1, RFC 4291 §2.3): `10.0.0.0/8`, `fe80::/10`; a single address is a
/// block of one.
///
/// A block of IPv4-mapped addresses (`::ffff:10.0.0.0/104`) is the block of the IPv4 addresses.
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    /// The first address, all other bits 0.
    public let first: IPAddress
    /// The number of fixed bits: 0 … 32 or 0 … 128.
    public let length: Int

    /// Parses an address with an optional `/length`. Returns nil for any other text. Bits after the length are ignored.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        var length = address.bytes.count * 8
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int(digits, radix: 10), number <= length
            else { return nil }
            length = number
        }
        self.init(address, length: length)
    }

    private init?(_ address: IPAddress, length: Int) {
        if length >= 96, let embedded = address.mappedIPv4 {
            (first, self.length) = (embedded.masked(to: length - 96), length - 96)
        } else {
            (first, self.length) = (address.masked(to: length), length)
        }
    }

    public func contains(_ address: IPAddress) -> Bool {
        address.isIPv6 == first.isIPv6 && address.masked(to: length) == first
    }

    public var description: String {
        length == first.bytes.count * 8 ? first.description : "\(first)/\(length)"
    }
}

extension IPAddress {
    /// The IPv4 address in an IPv4-mapped one (RFC 4291 §2.5.5.2).
    public var mappedIPv4: IPAddress? {
        isIPv6 && bytes.starts(with: Self.mappedPrefix) ? IPAddress(bytes: Array(bytes[12...])) : nil
    }

    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

    fileprivate func masked(to length: Int) -> IPAddress {
        let masked = bytes.enumerated().map { index, byte in
            let kept = min(max(length - index * 8, 0), 8)
            return kept == 0 ? 0 : byte & (0xff << UInt8(clamping: 8 - kept))
        }
        return IPAddress(bytes: masked) ?? self
    }
}

/// The operator's lists of hosts and addresses that requests may or may not go to. `XferCore.AdmissionRules` applies
/// them.
public struct AdmissionLists: Hashable, Sendable {
    /// Hosts to which no request is sent.
    public var deniedHosts: [HostPattern]
    /// Addresses that are never connected to.
    public var deniedAddresses: [AddressBlock]
    /// The addresses on which the daemon itself listens. Transfers never connect to them.
    public var ownListeners: [ListenerAddresses]
    /// The hosts to which requests are sent; empty allows all hosts.
    public var allowedHosts: [HostPattern]
    /// Prefixes by which the network translates IPv6 to IPv4 (NAT64), in addition to the well-known ones.
    public var translationPrefixes: [TranslationPrefix]

    public init(
        deniedHosts: [HostPattern] = [], deniedAddresses: [AddressBlock] = [],
        ownListeners: [ListenerAddresses] = [], allowedHosts: [HostPattern] = [],
        translationPrefixes: [TranslationPrefix] = []
    ) {
        self.deniedHosts = deniedHosts
        self.deniedAddresses = deniedAddresses
        self.ownListeners = ownListeners
        self.allowedHosts = allowedHosts
        self.translationPrefixes = translationPrefixes
    }
}

/// Addresses at which a listener of the daemon is reached, with its port.
public struct ListenerAddresses: Hashable, Sendable {
    public let block: AddressBlock
    public let port: UInt16

    public init(_ block: AddressBlock, port: UInt16) {
        self.block = block
        self.port = port
    }

    public func contains(_ address: IPAddress, port: UInt16) -> Bool { port == self.port && block.contains(address) }
}
