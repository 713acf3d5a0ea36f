/// The hosts of a trust policy: `example.org`, `*.example.org` (one label more), `.example.org` (the name itself and
/// all names below it), an IPv4 address or an IPv6 address in brackets, each with an optional `:port`.
///
/// Names are lower case and in Punycode; `HostPattern.parse` of XferCurl accepts internationalised ones.
public struct HostPattern: Hashable, Sendable, Codable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The name itself, and all names below it at any depth.
        case anyDepth
        /// The names exactly one label below the name.
        case oneLabel
        /// The name or address alone.
        case exact
    }

    public let kind: Kind
    /// The pattern's fixed part.
    public let name: ServerName
    /// The port that matches; nil matches every port.
    public let port: UInt16?

    /// Reads an operator's pattern.
    public init(_ text: String) throws(HostPatternError) {
        func fault(_ problem: HostPatternError.Problem) -> HostPatternError {
            HostPatternError(pattern: String(text.prefix(300)), problem: problem)
        }
        if text.isEmpty { throw fault(.empty) }
        if text.contains("/") { throw fault(.isURL) }
        var (host, port) = try Self.splitPort(text[...], fault)
        self.port = port
        if host.hasPrefix("[") {
            guard let address = IPAddress(host: host), !host.contains("%") else { throw fault(.badAddress) }
            (kind, name) = (.exact, .address(address.unmapped))
            return
        }
        if let address = IPAddress(host: host) {
            (kind, name) = (.exact, .address(address.unmapped))
            return
        }
        if host.hasPrefix("*.") {
            kind = .oneLabel
            host = host.dropFirst(2)
        } else if host.hasPrefix(".") {
            kind = .anyDepth
            host = host.dropFirst()
        } else {
            kind = .exact
        }
        if host.hasSuffix(".") { host = host.dropLast() }
        if let problem = Self.problem(ofName: host) { throw fault(problem) }
        name = .domain(host.lowercased())
    }

    private static func splitPort(
        _ text: Substring, _ fault: (HostPatternError.Problem) -> HostPatternError
    ) throws(HostPatternError) -> (Substring, UInt16?) {
        let start = text.hasPrefix("[") ? text.firstIndex(of: "]") ?? text.startIndex : text.startIndex
        let colons = text[start...].filter { $0 == ":" }.count
        if colons == 0 { return (text, nil) }
        guard colons == 1, let colon = text[start...].firstIndex(of: ":") else { throw fault(.unbracketedAddress) }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits, radix: 10), port > 0 else {
            throw fault(.badPort)
        }
        return (text[..<colon], port)
    }

    private static func problem(ofName name: Substring) -> HostPatternError.Problem? {
        if name.contains("*") { return .wildcard }
        if !name.utf8.allSatisfy({ $0 < 0x80 }) { return .notASCII }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.utf8.count) }) else { return .badName }
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        }
        guard isPlain else { return .badName }
        // A name whose last label is a number is read as an address (WHATWG URL §3.5).
        guard let last = labels.last, !last.utf8.allSatisfy({ (48...57).contains($0) }),
            !last.lowercased().hasPrefix("0x")
        else {
            return .badAddress
        }
        return nil
    }

    // MARK: Matching

    public func matches(_ host: ServerName, port: UInt16) -> Bool {
        if let own = self.port, own != port { return false }
        switch (name, host) {
        case (.address(let own), .address(let other)): return own == other
        case (.domain(let own), .domain(let other)): return matches(domain: other, own)
        case (.address, .domain), (.domain, .address): return false
        }
    }

    private func matches(domain: String, _ own: String) -> Bool {
        if domain == own { return kind != .oneLabel }
        guard kind != .exact, domain.hasSuffix(".\(own)") else { return false }
        let above = domain.dropLast(own.utf8.count + 1)
        return kind == .anyDepth || !above.isEmpty && !above.contains(".")
    }

    /// True if this pattern is more specific for a host that both match: more labels are fixed, then `exact` over `*.`
    /// over `.`, then a port over none.
    public func isMoreSpecific(than other: HostPattern) -> Bool { rank > other.rank }

    private var rank: (Int, Int, Int) {
        let labels =
            switch name {
            case .domain(let name): name.utf8.count { $0 == UInt8(ascii: ".") } + 1
            case .address: 1
            }
        let breadth =
            switch kind {
            case .anyDepth: 0
            case .oneLabel: 1
            case .exact: 2
            }
        return (labels, breadth, port == nil ? 0 : 1)
    }

    // MARK: Text

    public var description: String {
        let host =
            switch name {
            case .domain(let name): name
            case .address(let address): address.isIPv6 ? "[\(address)]" : address.description
            }
        let prefix =
            switch kind {
            case .anyDepth: "."
            case .oneLabel: "*."
            case .exact: ""
            }
        return prefix + host + (port.map { ":\($0)" } ?? "")
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(String.self))
        } catch let error as HostPatternError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The reason why a text is not a host pattern.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        case empty, isURL, wildcard, notASCII, badName, badAddress, unbracketedAddress, badPort
    }

    public let pattern: String
    public let problem: Problem

    public init(pattern: String, problem: Problem) {
        self.pattern = pattern
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .empty: "a host pattern is empty, expected for example example.org"
        case .isURL: "host pattern \"\(pattern)\" contains a slash, expected a host with an optional port, not a URL"
        case .wildcard:
            "host pattern \"\(pattern)\" has a * in the wrong place: it is allowed only as *. before a name"
        case .notASCII: "host pattern \"\(pattern)\" is not ASCII, expected the name in Punycode"
        case .badName: "host pattern \"\(pattern)\" is not a host name"
        case .badAddress: "host pattern \"\(pattern)\" is not an IP address"
        case .unbracketedAddress: "host pattern \"\(pattern)\": an IPv6 address is written in brackets"
        case .badPort: "host pattern \"\(pattern)\": the port is not a number from 1 to 65535"
        }
    }
}

/// A host in the form for trust policies: the name for which a certificate must be valid, and with which host patterns
/// are compared.
///
/// Normalised beyond `HTTPURL`, so that no spelling of a host escapes its policy: no root dot, no brackets, no zone,
/// addresses by their bytes, IPv4-mapped ones as the IPv4 addresses that they reach.
public enum ServerName: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case and Punycode, without the root's dot.
    case domain(String)
    case address(IPAddress)

    /// True if the exceptions contain a host.
    ///
    /// - Parameter host: the host in the form of `HTTPURL.host`.
    public init(host: String) {
        if let address = IPAddress(host: host) {
            self = .address(address.unmapped)
            return
        }
        let name = host.lowercased()
        self = .domain(name.hasSuffix(".") ? String(name.dropLast()) : name)
    }

    /// The name, or the address without brackets.
    public var description: String {
        switch self {
        case .domain(let name): name
        case .address(let address): address.description
        }
    }
}
