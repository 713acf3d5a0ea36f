/// The address and protocol of a proxy.
public struct ProxyServer: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, CaseIterable {
        case http
        /// HTTP over TLS.
        case https
        /// RFC 1928; names are resolved by this machine.
        case socks5
        /// RFC 1928; names are resolved by the proxy.
        case socks5h
    }

    public let kind: Kind
    /// The host in lower case; IPv6 literals in brackets.
    public let host: String
    public let port: UInt16

    /// The forms of a proxy's URL, for messages.
    public static let forms = "http://, https://, socks5:// or socks5h:// with a host and a port"

    /// Reads `scheme://host:port`, with nothing behind it but a slash; the default port is 80, 443 or 1080.
    /// - Throws: the fault of the text; user info is never repeated.
    public init(_ text: String) throws(ProxyFault) {
        guard let slashes = text.firstRange(of: "://") else {
            throw ProxyFault("has no scheme: expected \(Self.forms)")
        }
        guard let kind = Kind(rawValue: text[..<slashes.lowerBound].lowercased()) else {
            throw ProxyFault("has a scheme that is not supported: expected http, https, socks5 or socks5h")
        }
        var rest = text[slashes.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        if rest.contains("@") { throw ProxyFault("contains user info: a proxy's credential has a field of its own") }
        let (host, port) = try Self.split(rest, defaultPort: kind.defaultPort)
        (self.kind, self.host, self.port) = (kind, host, port)
    }

    private static func split(
        _ text: Substring, defaultPort: UInt16
    ) throws(ProxyFault) -> (host: String, port: UInt16) {
        guard !text.isEmpty, !text.hasPrefix(":") else {
            throw ProxyFault("has no host: expected \(Self.forms)")
        }
        let pattern: HostPattern
        do throws(HostPatternError) {
            pattern = try HostPattern(String(text))
        } catch {
            throw ProxyFault("has a bad host: \(error)")
        }
        guard pattern.kind == .exact else { throw ProxyFault("has a bad host: expected a name or an address") }
        let host =
            switch pattern.name {
            case .domain(let name): name
            case .address(let address): address.isIPv6 ? "[\(address)]" : address.description
            }
        return (host, pattern.port ?? defaultPort)
    }

    /// The URL of the proxy for libcurl.
    public var url: String { "\(kind.rawValue)://\(host):\(port)" }

    public var description: String { url }

    /// The origin whose trust policy applies to an `https` proxy.
    public var origin: Origin? { kind == .https ? Origin(scheme: .https, host: host, port: port) : nil }
}

extension ProxyServer.Kind {
    fileprivate var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks5, .socks5h: 1080
        }
    }
}

/// The reason why a text is not a proxy.
public struct ProxyFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Follows "the proxy".
    public let description: String

    init(_ description: String) { self.description = description }
}
