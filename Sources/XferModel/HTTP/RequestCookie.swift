/// A cookie that a client gave with its request: the fields of a line of the Netscape format, which curl and browsers'
/// exports write. It is sent to the hosts, paths and schemes it is for, at every hop.
public struct RequestCookie: Hashable, Sendable, Codable, CustomStringConvertible {
    /// In lower case, without a dot before it.
    public var domain: String
    /// Whether hosts below the domain get it, too.
    public var includesSubdomains: Bool
    public var path: String
    /// Whether it is sent over https only.
    public var isSecure: Bool
    /// Seconds since 1970; 0 is none.
    public var expires: Int64
    public var name: String
    public var value: String

    public init(
        domain: String, includesSubdomains: Bool = false, path: String = "/", isSecure: Bool = false,
        expires: Int64 = 0,
        name: String, value: String
    ) {
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        self.path = path
        self.isSecure = isSecure
        self.expires = expires
        self.name = name
        self.value = value
    }

    /// Most bytes of name and value together (RFC 6265 §6.1).
    public static let maxSize = 4096

    /// Reads a line of a Netscape cookie file; nil if it is none. Lines that are empty or begin with `#` are comments,
    /// but for `#HttpOnly_`.
    public init?(netscape line: some StringProtocol) {
        var line = line[...]
        if line.hasPrefix("#HttpOnly_") { line = line.dropFirst("#HttpOnly_".count) }
        // Seven fields; a value may be missing, and then its tab as well.
        let parts = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.count >= 6, let expires = Int64(parts[4], radix: 10), let includes = Self.flag(parts[1]),
            let isSecure = Self.flag(parts[3])
        else { return nil }
        self.init(
            domain: (parts[0].hasPrefix(".") ? parts[0].dropFirst() : parts[0]).lowercased(),
            includesSubdomains: includes, path: String(parts[2]), isSecure: isSecure, expires: max(0, expires),
            name: String(parts[5]), value: parts.count == 7 ? String(parts[6]) : "")
        guard problem == nil else { return nil }
    }

    private static func flag(_ text: some StringProtocol) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    /// The field that no cookie can have; nil if there is none.
    public var problem: (field: String, expected: String)? {
        let isHost = domain.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard !domain.isEmpty, domain.utf8.count <= 255, isHost, !domain.hasPrefix(".") else {
            return ("domain", "a host name without a dot before it")
        }
        guard path.hasPrefix("/"), path.utf8.count <= 1024, Self.isClean(path) else {
            return ("path", "a path that begins with /, of at most 1024 bytes")
        }
        guard !name.isEmpty, Self.isClean(name), !name.contains(where: { $0 == "=" || $0 == ";" }) else {
            return ("name", "a name without control characters, = and ;")
        }
        guard Self.isClean(value), !value.contains(";"), name.utf8.count + value.utf8.count <= Self.maxSize else {
            return ("value", "a value without control characters and ;, with the name at most \(Self.maxSize) bytes")
        }
        return nil
    }

    private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// A line of the Netscape format, as CURLOPT_COOKIELIST(3) takes it. It contains the value.
    public var netscapeLine: String {
        let domain = (includesSubdomains ? "." : "") + domain
        let flags = (includesSubdomains ? "TRUE" : "FALSE", isSecure ? "TRUE" : "FALSE")
        return [domain, flags.0, path, flags.1, "\(expires)", name, value].joined(separator: "\t")
    }

    public var description: String { "\(name)=\(Redaction.mask) for \(domain)\(path)" }
}
