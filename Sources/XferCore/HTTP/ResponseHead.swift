public import XferModel

/// Status and header fields of one response (RFC 9112 §2.1, RFC 9113 §8.1), as received.
public struct ResponseHead: Hashable, Sendable {
    /// 100 … 999. Only an interim response has a status below 200.
    public var status: Int
    /// 1 or 2: decides whether a limited transfer has to change connections.
    public var majorVersion: Int
    /// In the order received, names as the server wrote them.
    public var fields: [HeaderField]

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

    /// Whether the response redirects to another URL: 301, 302, 303, 307 or 308 with a `Location` (RFC 9110 §15.4).
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && location != nil }
}
