/// A host of a filter: a name or an address, with one port or any.
public struct HostSelector: Hashable, Sendable, CustomStringConvertible {
    /// The host in the form of `HTTPURL.host`.
    public let name: String
    /// The port that matches; nil matches every port.
    public let port: UInt16?

    /// Reads `example.org`, `example.org:8080`, `[::1]`, `[::1]:8080` or `::1`, in any case. Other text is a name that
    /// no task has.
    public init(_ text: String) {
        let text = text.lowercased()
        let bracket = text.lastIndex(of: "]")
        let colons = text[(bracket ?? text.startIndex)...].filter { $0 == ":" }.count
        if bracket == nil, colons > 1 {
            (name, port) = (Self.canonical("[\(text)]"), nil)
        } else if colons == 1, let colon = text.lastIndex(of: ":"),
            let port = Self.port(text[text.index(after: colon)...])
        {
            (name, self.port) = (Self.canonical(text[..<colon]), port)
        } else {
            (name, port) = (Self.canonical(text), nil)
        }
    }

    private static func port(_ digits: Substring) -> UInt16? {
        digits.utf8.allSatisfy { (48...57).contains($0) } ? UInt16(digits, radix: 10) : nil
    }

    /// The address in the form in which URLs have it. libcurl writes the IPv4 part of an IPv6 address with dots, as its
    /// user does.
    private static func canonical(_ host: some StringProtocol) -> String {
        guard host.hasPrefix("["), !host.contains("."), !host.contains("%"), let address = IPAddress(host: host) else {
            return String(host)
        }
        return "[\(address)]"
    }

    /// The scheme that has this port by default; its URLs have the host without a port.
    public var scheme: HTTPURL.Scheme? { HTTPURL.Scheme.allCases.first { $0.defaultPort == port } }

    public var description: String { port.map { "\(name):\($0)" } ?? name }
}
