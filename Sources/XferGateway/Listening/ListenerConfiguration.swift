/// One listener, as the operator configured it.
public struct ListenerConfiguration: Hashable, Sendable {
    /// The files of a server's certificate.
    public struct TLS: Hashable, Sendable {
        /// PEM file with the server's certificate, followed by those of intermediate authorities; absolute.
        public var certificate: String
        /// PEM file with its private key; absolute.
        public var key: String
        /// PEM file with the authorities of client certificates; if there is one, clients must show a certificate.
        public var clientAuthorities: String?

        public init(certificate: String, key: String, clientAuthorities: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.clientAuthorities = clientAuthorities
        }

        public var files: [String] { [certificate, key] + [clientAuthorities].compactMap(\.self) }
    }

    public var address: ListenAddress
    /// The settings for TLS; nil is plain HTTP.
    public var tls: TLS?
    /// Names by which clients reach it, in lower case, in addition to its addresses and `localhost`.
    public var hosts: [String]
    /// Origins of the web pages that may call, as browsers send them: `https://ui.example`.
    public var origins: [String]

    public init(address: ListenAddress, tls: TLS? = nil, hosts: [String] = [], origins: [String] = []) {
        self.address = address
        self.tls = tls
        self.hosts = hosts
        self.origins = origins
    }
}

/// A numeric address and a port to listen on: `127.0.0.1:6800`, `[::1]:6800`, `0.0.0.0:6801`.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in numbers, without brackets.
    public let host: String
    public let port: Int

    public static let expected = "a numeric address and a port, for example 127.0.0.1:6800 or [::1]:6800"

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses a numeric address with a port from 1 to 65535. Returns nil for any other text. Names are refused: their
    /// addresses may change, and a listener must not move by accident.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            text[text.index(after: colon)...].utf8.allSatisfy({ (48...57).contains($0) }),
            let port = UInt16(text[text.index(after: colon)...], radix: 10), port > 0
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard NumericAddress(host)?.isIPv6 == isBracketed else { return nil }
        self.init(host: host, port: Int(clamping: port))
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// True if only processes of this machine can connect: 127.0.0.0/8 and ::1.
    public var isLoopback: Bool { NumericAddress(host)?.isLoopback ?? false }

    /// True if it represents all addresses of the machine.
    public var isWildcard: Bool { NumericAddress(host)?.isUnspecified ?? false }
}
