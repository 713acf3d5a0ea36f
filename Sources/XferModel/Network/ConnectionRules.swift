/// The addresses that a connection may use; CURLOPT_IPRESOLVE(3).
public enum IPVersion: String, Sendable, Codable, CaseIterable {
    case any
    case ipv4 = "4"
    case ipv6 = "6"
}

/// Rules for connections that override the resolver and the routing table. Operators choose them, because they decide
/// where a request goes regardless of its URL.
///
/// TLS, pins and `Host` stay those of the URL. The address of the connection is checked like any other.
public struct ConnectionRules: Hashable, Sendable, Codable {
    public var ipVersion = IPVersion.any
    /// The local address or interface of connections; nil leaves the choice to the routing table.
    public var interface: LocalInterface?
    /// Addresses in place of the resolver's.
    public var resolve: [ResolveRule] = []
    /// Hosts and ports to connect to in place of the URL's; the first that matches applies.
    public var connectTo: [ConnectToRule] = []
    /// Absolute path of the Unix socket through which the host of the task's URL is reached, without a proxy; nil is
    /// the network. Other hosts, to which redirects lead, are reached as usual. No profile has one.
    public var unixSocket: String?

    public init() {}

    /// The highest number of bytes in a socket's path (unix(7), `sun_path`).
    public static let longestSocketPath = 107

    /// Sets the fields that a profile chose.
    public mutating func apply(_ choices: TransferRequest.Choices) {
        ipVersion = choices.ipVersion.applied(to: nil) ?? ipVersion
        interface = choices.interface.applied(to: interface)
        resolve = choices.resolve.applied(to: nil) ?? resolve
        connectTo = choices.connectTo.applied(to: nil) ?? connectTo
    }

    /// The name of a field in which the two differ.
    public func firstDifference(from other: Self) -> String? {
        if ipVersion != other.ipVersion { return "ip_version" }
        if interface != other.interface { return "interface" }
        if resolve != other.resolve { return "resolve" }
        if connectTo != other.connectTo { return "connect_to" }
        return unixSocket != other.unixSocket ? "unix_socket" : nil
    }

    /// The host and port that a request for `host` and `port` connects to; nil if no rule changes them.
    public func target(ofHost host: String, port: UInt16) -> (host: String, port: UInt16)? {
        guard let rule = connectTo.first(where: { $0.matches(host, port) }) else { return nil }
        return (rule.target.isEmpty ? host : rule.target, rule.targetPort ?? port)
    }
}

/// A network interface or an address of this machine; CURLOPT_INTERFACE(3).
public struct LocalInterface: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text, for example `eth0`, `192.0.2.7` or `2001:db8::7`.
    public let description: String

    /// Parses an address, or an interface's name of 1 to 15 characters without spaces and slashes (netdevice(7),
    /// IFNAMSIZ). Returns nil for any other text.
    public init?(_ text: String) {
        let isName = InterfacePattern(text) != nil && text.utf8.count <= 15 && !text.contains { "*?!:".contains($0) }
        guard IPAddress(text) != nil || isName else { return nil }
        description = text
    }

    /// The form that libcurl requires, which marks a name as an interface's or a host's.
    public var curlText: String { (IPAddress(description) == nil ? "if!" : "host!") + description }

    public init(from decoder: any Decoder) throws { self = try decoder.rule(Self.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.encode(rule: description) }
}

/// `HOST:PORT:ADDRESS[,ADDRESS]…`: the addresses of a host and port; CURLOPT_RESOLVE(3). `*` is any host.
public struct ResolveRule: Hashable, Sendable, Codable, CustomStringConvertible {
    public let host: String
    public let port: UInt16
    public let addresses: [IPAddress]

    /// The highest number of addresses of one rule.
    public static let maxAddresses = 16

    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "*" || parts[0].isHostName, let port = UInt16(port: parts[1]) else {
            return nil
        }
        let listed = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        let addresses = listed.compactMap { IPAddress($0.unbracketed) }
        guard addresses.count == listed.count, (1...Self.maxAddresses).contains(addresses.count) else { return nil }
        (host, self.port, self.addresses) = (parts[0].lowercased(), port, addresses)
    }

    public var description: String {
        "\(host):\(port):" + addresses.map { $0.isIPv6 ? "[\($0)]" : "\($0)" }.joined(separator: ",")
    }

    public init(from decoder: any Decoder) throws { self = try decoder.rule(Self.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.encode(rule: description) }
}

/// `HOST:PORT:TARGET:TARGETPORT`: the target to connect to in place of a host and port; CURLOPT_CONNECT_TO(3). An empty
/// HOST or PORT matches all, an empty TARGET or TARGETPORT keeps the URL's.
public struct ConnectToRule: Hashable, Sendable, Codable, CustomStringConvertible {
    public let host: String
    public let port: UInt16?
    public let target: String
    public let targetPort: UInt16?

    public init?(_ text: String) {
        var rest = text[...]
        guard let host = rest.readHost(), let port = rest.readPort(), let target = rest.readHost(),
            rest.isEmpty || UInt16(port: rest) != nil
        else { return nil }
        (self.host, self.port) = (host, port.number)
        (self.target, targetPort) = (target, UInt16(port: rest))
    }

    public var description: String {
        "\(host):\(port.map { "\($0)" } ?? ""):\(target):\(targetPort.map { "\($0)" } ?? "")"
    }

    /// True if the rule applies to a host and port.
    ///
    /// - Parameter host: the host as in a URL, an IPv6 address in brackets.
    func matches(_ host: String, _ port: UInt16) -> Bool {
        (self.host.isEmpty || self.host == host.lowercased()) && (self.port == nil || self.port == port)
    }

    public init(from decoder: any Decoder) throws { self = try decoder.rule(Self.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.encode(rule: description) }
}

extension Decoder {
    fileprivate func rule<Rule>(_ parse: (String) -> Rule?) throws -> Rule {
        let text = try singleValueContainer().decode(String.self)
        guard let rule = parse(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "no \(Rule.self): \(text)"))
        }
        return rule
    }
}

extension Encoder {
    fileprivate func encode(rule: String) throws {
        var container = singleValueContainer()
        try container.encode(rule)
    }
}

extension UInt16 {
    /// A port from 1 in decimal digits.
    fileprivate init?(port text: Substring) {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = UInt16(text, radix: 10), number > 0
        else { return nil }
        self = number
    }
}

extension Substring {
    /// A name as DNS has it, with `_`, which some servers' names contain; an IPv4 address is one, too.
    fileprivate var isHostName: Bool {
        (1...253).contains(utf8.count)
            && utf8.allSatisfy {
                (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
            }
    }

    fileprivate var unbracketed: Substring { hasPrefix("[") && hasSuffix("]") ? dropFirst().dropLast() : self }

    /// Takes a host, which may be empty, and the colon behind it. An IPv6 address has brackets.
    fileprivate mutating func readHost() -> String? {
        let end = hasPrefix("[") ? firstIndex(of: "]").map { index(after: $0) } : firstIndex(of: ":")
        guard let end, end < endIndex, self[end] == ":" else { return nil }
        let host = self[..<end]
        let isAddress = host.hasPrefix("[") && IPAddress(host.unbracketed)?.isIPv6 == true
        guard host.isEmpty || isAddress || host.isHostName else { return nil }
        self = self[index(after: end)...]
        return host.lowercased()
    }

    /// Reads a port, which may be empty, and the colon after it.
    fileprivate mutating func readPort() -> (number: UInt16?, Void)? {
        guard let end = firstIndex(of: ":") else { return nil }
        let digits = self[..<end]
        let number = UInt16(port: digits)
        guard digits.isEmpty || number != nil else { return nil }
        self = self[index(after: end)...]
        return (number, ())
    }
}
