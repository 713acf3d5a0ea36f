import XferModel

/// The value of a `Set-Cookie` field, read as a user agent has to (RFC 6265 §5.2).
///
/// It is as strict as browsers have become (RFC 6265bis): a value with control characters, a name and value of
/// more than 4096 bytes and an attribute of more than 1024 bytes are ignored.
struct SetCookie: Hashable {
    let name: String
    let value: String
    /// The last `Domain` that is not empty, in lower case and without a leading dot.
    private(set) var domain: String?
    /// The last `Path`; nil also if that one is empty or relative.
    private(set) var path: String?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// Seconds since 1970, at least 1; nil for a cookie of the session. `Max-Age` takes precedence over `Expires`.
    var expires: Int64? { lifetimeEnd ?? expiryDate }

    private var lifetimeEnd: Int64?
    private var expiryDate: Int64?

    /// The highest number of bytes of a received name and value together, and of an attribute's value.
    static let (longestPair, longestAttribute) = (4096, 1024)

    private static let latest = RequestCookie.latestExpiry

    /// - Parameter now: the wall clock, in seconds since 1970.
    /// - Returns: nil if the field sets no cookie.
    init?(_ field: String, at now: Int64) {
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else { return nil }
        var parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst(), let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = Self.trimmed(pair[..<equals])
        value = Self.trimmed(pair[pair.index(after: equals)...])
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.longestPair else { return nil }
        for part in parts { read(part, at: now) }
    }

    private mutating func read(_ attribute: Substring.UTF8View, at now: Int64) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let value = Self.trimmed(attribute[equals...].dropFirst())
        guard value.utf8.count <= Self.longestAttribute else { return }
        switch Self.trimmed(attribute[..<equals]).lowercased() {
        case "expires": expiryDate = CookieDate.parse(value).map { min(max($0, 1), Self.latest) } ?? expiryDate
        case "max-age": lifetimeEnd = Self.lifetime(value).map { Self.end(of: $0, at: now) } ?? lifetimeEnd
        case "domain":
            let name = value.hasPrefix(".") ? value.dropFirst() : value[...]
            if !value.isEmpty { domain = name.isEmpty ? nil : name.lowercased() }
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// Parses a lifetime in seconds, 0 for negative ones; nil unless the text is an integer. Numbers that are too large
    /// are the largest one.
    private static func lifetime(_ text: String) -> Int64? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        let signs = text.utf8.count - digits.count
        guard signs <= 1, !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return signs == 1 ? 0 : Int64(Substring(digits), radix: 10) ?? latest
    }

    private static func end(of lifetime: Int64, at now: Int64) -> Int64 {
        lifetime == 0 ? 1 : min(max(now.addingSaturated(lifetime), 1), latest)
    }

    /// Removes white space (§5.2: blanks and tabs) from both ends.
    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? start
        return String(Substring(bytes[start..<end]))
    }
}
