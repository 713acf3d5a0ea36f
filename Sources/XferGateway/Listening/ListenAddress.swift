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
