/// An absolute `http` or `https` URL without user info and fragment, as libcurl's URL parser normalised it.
///
/// `XferCurl` makes it from text (curl_url(3)). URLs are compared by their parts.
public struct HTTPURL: Hashable, Sendable, Codable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Codable, CaseIterable {
        case http, https

        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    public let scheme: Scheme
    /// The host in lower case: Punycode for internationalised names, IPv6 literals in brackets.
    public let host: String
    public let port: UInt16
    /// Path and query as sent in the request line (RFC 9112 §3.2.1), starting with `/`.
    public let target: String

    public init(scheme: Scheme, host: String, port: UInt16, target: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.target = target
    }

    /// Credentials, cookies and trust are bound to the origin.
    public var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

    /// The host as the scheduler counts it: `host` for a default port, else `host:port`.
    public var hostKey: String { port == scheme.defaultPort ? host : "\(host):\(port)" }

    /// The whole URL; may contain secrets in its query, see `Redaction`.
    public var string: String { "\(scheme.rawValue)://\(hostKey)\(target)" }

    /// The URL with secret query values hidden: safe for logs, events, listings and errors.
    public var description: String { Redaction.url(string) }

    /// The path's last segment, percent-encoded, empty when the path ends in `/`.
    public var lastPathSegment: Substring {
        let path = target.prefix { $0 != "?" }
        return path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
    }
}

/// Scheme, host and port (RFC 6454 §4), to which credentials, cookies and trust are bound.
public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    public let scheme: HTTPURL.Scheme
    public let host: String
    public let port: UInt16

    public init(scheme: HTTPURL.Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    public var description: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension Origin {
    /// Reads `scheme://host[:port]` with a scheme of http or https; nil for everything else, also with a path or user
    /// info.
    ///
    /// The host's name is ASCII: an internationalised one is written in Punycode.
    public init?(_ text: String) {
        guard let slashes = text.firstRange(of: "://"),
            let scheme = HTTPURL.Scheme(rawValue: text[..<slashes.lowerBound].lowercased())
        else { return nil }
        var rest = text[slashes.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("/"), !rest.contains("%"), let pattern = try? HostPattern(String(rest)),
            pattern.kind == .exact
        else { return nil }
        let host =
            switch pattern.name {
            case .domain(let name): name
            case .address(let address): address.isIPv6 ? "[\(address)]" : address.description
            }
        self.init(scheme: scheme, host: host, port: pattern.port ?? scheme.defaultPort)
    }

    /// The URL in the form that `init(_:)` reads, without a scheme's own port.
    public var text: String {
        port == scheme.defaultPort ? "\(scheme.rawValue)://\(host)" : "\(scheme.rawValue)://\(host):\(port)"
    }
}
