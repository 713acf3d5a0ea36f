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
