public import XferModel

/// Status and header fields of one response (RFC 9112 §2.1, RFC 9113 §8.1), as received.
public struct ResponseHead: Hashable, Sendable {
    /// The status code, 100 … 999. Only an interim response has a status below 200.
    public var status: Int
    /// The major version, 1 or 2: decides whether a limited transfer has to change connections.
    public var majorVersion: Int
    /// The fields in the order received, names in the server's spelling.
    public var fields: [HeaderField]
    /// The URL of the HTTP proxy that sent the response, its own or a server's; nil if there is no such proxy.
    public var proxy: String?
    /// True if the connection uses a proxy of any kind, or a Unix socket. Over plain HTTP either can answer instead of
    /// the server.
    public var isViaProxy = false
    /// True if the connection uses a Unix socket, so that no network is involved.
    public var isViaUnixSocket = false
    /// True if a redirect led to the response's URL; see `RedirectRules.leadsElsewhere`.
    public var isRedirected = false
    /// True if its request had cookies of a jar, so that others may get another response.
    public var followsCookies = false
    /// True if its request had an `Authorization` field, or answered a challenge.
    public var followsCredentials = false
    /// True if a login was sent to the proxy.
    public var followsProxyLogin = false

    public init(status: Int, majorVersion: Int = 1, fields: [HeaderField] = []) {
        self.status = status
        self.majorVersion = majorVersion
        self.fields = fields
    }

    /// The value that all fields with this name have. Nil if there is no such field, or if their values differ: then
    /// none of them is reliable.
    public func value(_ name: String) -> String? {
        var found: String?
        for field in fields where field.name.equalsIgnoringASCIICase(name) {
            if let found, found != field.value { return nil }
            found = field.value
        }
        return found
    }

    public var etag: String? { value("ETag") }
    public var lastModified: String? { value("Last-Modified") }
    public var date: String? { value("Date") }
    public var location: String? { value("Location") }

    /// The content coding (RFC 9110 §8.4); nil for none and for `identity`.
    public var contentEncoding: String? {
        let codings = fields.filter { $0.name.equalsIgnoringASCIICase("Content-Encoding") }.map(\.value)
            .filter { !$0.isEmpty && !$0.equalsIgnoringASCIICase("identity") }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    /// The media type (RFC 9110 §8.3) without parameters, lower case; nil if the server sends none.
    public var mediaType: String? {
        guard let text = value("Content-Type") else { return nil }
        let type = text.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type.isEmpty ? nil : type
    }

    /// The announced length of the body in octets, 0 for a 205. Nil if the last chunk or the end of the connection ends
    /// the body, and if the framing is invalid.
    public var contentLength: Int64? {
        if status == 205 { return 0 }
        guard case .length(let length) = framing else { return nil }
        return length
    }

    /// `Content-Range`, nil if it is absent or cannot be parsed.
    public var contentRange: ContentRange? { value("Content-Range").flatMap(ContentRange.init(parsing:)) }

    /// The complete length, if this is a 206 whose range covers the whole: a single range `0 … length - 1` of a known
    /// length that agrees with the framing. Nil for every other partial response.
    public var wholeLength: Int64? {
        guard status == 206, mediaType?.hasPrefix("multipart/") != true,
            case .satisfied(first: 0, let last, let complete?) = contentRange, last == complete - 1,
            contentLength ?? complete == complete
        else { return nil }
        return complete
    }

    public var validators: Validators { Validators(etag: etag, lastModified: lastModified, date: date) }

    /// True if the response redirects to another URL: 301, 302, 303, 307 or 308 with a `Location` (RFC 9110 §15.4).
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && location != nil }
}

/// A `Content-Range` field (RFC 9110 §14.4) of unit `bytes`.
public enum ContentRange: Hashable, Sendable {
    /// `bytes first-last/complete`; `complete` is nil for `*`. Always last ≥ first and complete > last.
    case satisfied(first: Int64, last: Int64, complete: Int64?)
    /// The field `bytes */complete`: no byte of the range exists.
    case unsatisfied(complete: Int64)

    /// Parses the field. Returns nil for another unit, other syntax, numbers that contradict each other, or one beyond
    /// `ByteCount.greatest`.
    public init?(parsing text: String) {
        guard let space = text.firstIndex(of: " "), text[..<space].lowercased() == "bytes" else { return nil }
        let rest = text[text.index(after: space)...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let range = rest[..<slash]
        let completeText = rest[rest.index(after: slash)...]
        let complete = Decimal64.parse(completeText)
        if range == "*" {
            guard let complete else { return nil }
            self = .unsatisfied(complete: complete)
            return
        }
        guard complete != nil || completeText == "*", let dash = range.firstIndex(of: "-"),
            let first = Decimal64.parse(range[..<dash]),
            let last = Decimal64.parse(range[range.index(after: dash)...]), last >= first
        else { return nil }
        if let complete, complete <= last { return nil }
        self = .satisfied(first: first, last: last, complete: complete)
    }
}

/// The comparison of entity tags (RFC 9110 §8.8.3). Tags are kept and sent verbatim.
public enum EntityTag {
    /// True if the text is a quoted tag without `W/`: only such a tag is allowed in `If-Range`.
    ///
    /// Many handlers leave out the quotes. Their tags are sent back and compared unchanged, too.
    public static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") || isUnquoted(tag)
    }

    /// True if the text is a tag except that the quotes are missing. A placeholder such as `null` or `undefined` does
    /// not distinguish versions: a tag without quotes has six characters or more, and a digit.
    private static func isUnquoted(_ tag: String) -> Bool {
        tag.utf8.count >= 6 && !tag.hasPrefix("W/") && !tag.hasPrefix("w/")
            && tag.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") }
            && tag.utf8.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// A strong tag of the same form that no version of the source has.
    static func unlike(_ tag: String) -> String {
        tag.hasPrefix("\"") ? "\"xfer-\(tag.dropFirst())" : "xfer-\(tag)"
    }

    /// Compares strongly (§8.8.3.2): true if both are strong and equal in every octet.
    public static func matchStrongly(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return false }
        return isStrong(left) && left.utf8.elementsEqual(right.utf8)
    }

    /// Compares weakly: true if both are equal except for `W/`.
    public static func matchWeakly(_ left: String, _ right: String) -> Bool {
        opaque(left).utf8.elementsEqual(opaque(right).utf8)
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
