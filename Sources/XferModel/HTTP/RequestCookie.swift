/// A cookie that a client gave with its request: the fields of a line of the Netscape format, which curl and browsers'
/// exports write. It is sent to the hosts, paths and schemes it is for, at every hop.
public struct RequestCookie: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The domain in lower case, without a dot before it.
    public var domain: String
    /// True if hosts below the domain get it, too.
    public var includesSubdomains: Bool
    public var path: String
    /// True if it is sent over https only.
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

    /// The highest number of bytes of name and value together. RFC 6265 §6.1 requires at least 4096; servers accept
    /// lines of some 8190.
    public static let maxSize = 8000

    /// The beginning of a line with a cookie that scripts of web pages do not see.
    public static let httpOnlyPrefix = "#HttpOnly_"

    /// Reads a line of a Netscape cookie file; nil if it is none. Lines that are empty or begin with `#` are comments,
    /// but for `#HttpOnly_`.
    ///
    /// Lines are read as curl and wget read them: a path that is missing or relative is `/`, and an expiry may have a
    /// fraction, be empty, or be in milliseconds.
    public init?(netscape line: some StringProtocol) {
        var line = line[...]
        if line.hasPrefix(Self.httpOnlyPrefix) { line = line.dropFirst(Self.httpOnlyPrefix.count) }
        // Seven fields; a value may be missing, and then its tab as well.
        let fields = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false)
        var parts = fields.map { String($0) }
        if parts.count >= 5, parts.count <= 6, Self.flag(parts[2]) != nil { parts.insert("/", at: 2) }
        guard parts.count >= 6, let expires = Self.expiry(parts[4]), let includes = Self.flag(parts[1]),
            let isSecure = Self.flag(parts[3])
        else { return nil }
        self.init(
            domain: (parts[0].hasPrefix(".") ? String(parts[0].dropFirst()) : parts[0]).lowercased(),
            includesSubdomains: includes, path: parts[2].hasPrefix("/") ? parts[2] : "/", isSecure: isSecure,
            expires: expires, name: parts[5], value: parts.count == 7 ? parts[6] : "")
        guard problem == nil else { return nil }
    }

    /// The last second of the year 9999.
    public static let latestExpiry: Int64 = 253_402_300_799

    /// Seconds since 1970; nil if the text is no number. Larger numbers than `latestExpiry` are milliseconds, as some
    /// browsers' extensions write them, or microseconds. Negative ones are none.
    private static func expiry(_ text: String) -> Int64? {
        if text.isEmpty { return 0 }
        let whole = text.prefix { $0 != "." }
        let fraction = text.dropFirst(whole.count + 1)
        guard !whole.isEmpty, fraction.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let digits = whole.hasPrefix("-") ? whole.dropFirst() : whole
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        var seconds = max(0, Int64(whole, radix: 10) ?? (whole.hasPrefix("-") ? 0 : latestExpiry))
        while seconds > latestExpiry { seconds /= 1000 }
        return seconds
    }

    private static func flag(_ text: some StringProtocol) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    /// The field with an invalid value, and the expected form; nil if the cookie is valid.
    public var problem: (field: String, expected: String)? {
        let isHost = domain.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard !domain.isEmpty, domain.utf8.count <= 255, isHost, !domain.hasPrefix(".") else {
            return ("domain", "a host name without a leading dot")
        }
        guard path.hasPrefix("/"), path.utf8.count <= 1024, Self.isClean(path) else {
            return ("path", "a path that begins with /, of at most 1024 bytes")
        }
        guard !name.isEmpty, Self.isClean(name), !name.utf8.contains(where: { "=;".utf8.contains($0) }) else {
            return ("name", "a name without control characters, = and ;")
        }
        guard Self.isClean(value), !value.utf8.contains(UInt8(ascii: ";")),
            name.utf8.count + value.utf8.count <= Self.maxSize
        else {
            return ("value", "a value without control characters and ;, with the name at most \(Self.maxSize) bytes")
        }
        return nil
    }

    /// True if a request to the host gets the cookie, as far as the domain is concerned.
    ///
    /// - Parameter host: in lower case; IPv6 addresses without brackets.
    public func isFor(host: String) -> Bool { includesSubdomains ? covers(host: host) : host == domain }

    /// True if the cookie's domain matches the host (RFC 6265 §5.1.3): the host is the domain or a name below it. An
    /// address is below none.
    public func covers(host: String) -> Bool {
        if host == domain { return true }
        let (name, parent) = (host.utf8, domain.utf8)
        guard name.count > parent.count, name.suffix(parent.count).elementsEqual(parent) else { return false }
        return name.dropLast(parent.count).last == UInt8(ascii: ".") && IPAddress(host) == nil
    }

    private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// A line of the Netscape format. It contains the value.
    public var netscapeLine: String {
        let domain = (includesSubdomains ? "." : "") + domain
        let flags = (includesSubdomains ? "TRUE" : "FALSE", isSecure ? "TRUE" : "FALSE")
        return [domain, flags.0, path, flags.1, "\(expires)", name, value].joined(separator: "\t")
    }

    public var description: String { "\(name)=\(Redaction.mask) for \(domain)\(path)" }
}
