/// A request's method: any token (RFC 9110 §9.1) except those that this service cannot send.
///
/// Methods are case-sensitive. A token that differs from a registered method only in case is a mistake and refused.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String

    public static let get = HTTPMethod(token: "GET")
    public static let head = HTTPMethod(token: "HEAD")
    public static let post = HTTPMethod(token: "POST")
    public static let put = HTTPMethod(token: "PUT")
    public static let patch = HTTPMethod(token: "PATCH")
    public static let delete = HTTPMethod(token: "DELETE")
    public static let options = HTTPMethod(token: "OPTIONS")

    /// The methods that every kind of task knows.
    public static let common: [HTTPMethod] = [get, head, post, put, patch, delete]

    /// The texts that are methods here, for a sentence that begins with "expected".
    public static let expected = "a method such as GET, POST or PROPFIND, in the right case; not CONNECT or TRACE"

    /// The highest number of bytes of a method.
    public static let longest = 64

    private init(token: String) { rawValue = token }

    /// Creates a method, or nil unless the text is a method that can be sent.
    public init?(rawValue: String) {
        let upper = rawValue.uppercased()
        guard (1...Self.longest).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isTokenByte),
            !Self.refused.contains(upper), rawValue == upper || !Self.registry.contains(upper)
        else { return nil }
        self.rawValue = rawValue
    }

    /// Reads a method in the form that people write: a registered one in any case, any other one unchanged.
    public init?(anyCase text: String) {
        let upper = text.uppercased()
        self.init(rawValue: Self.registry.contains(upper) ? upper : text)
    }

    /// True if the method is safe (RFC 9110 §9.2.1), as registered.
    public var isSafe: Bool { Self.safe.contains(rawValue) }

    /// True if sending it twice means the same as sending it once (RFC 9110 §9.2.2), according to the registry. False
    /// for a method that is not registered.
    public var isIdempotent: Bool { isSafe || Self.idempotent.contains(rawValue) }

    /// True if it may carry content here; with GET and HEAD content has no meaning (RFC 9110 §9.3.1).
    public var allowsContent: Bool { self != .get && self != .head }

    /// True if a request without content sends a length of 0, because its method anticipates content (RFC 9110 §8.6).
    public var anticipatesContent: Bool {
        self == .post || self == .put || self == .patch || rawValue == "QUERY"
    }

    /// True if `params` go into the query rather than into a form.
    public var putsParametersInQuery: Bool { self == .get || self == .head || self == .delete }

    // MARK: The registry (iana.org/assignments/http-methods: RFC 7237, RFC 9110 §18.2, RFC 10008)

    private static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "PROPFIND", "QUERY", "REPORT", "SEARCH"]

    /// The registered methods that are idempotent and not safe.
    private static let idempotent: Set<String> = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "DELETE", "LABEL", "LINK", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPPATCH", "PUT",
        "REBIND", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    private static let registry = safe.union(idempotent).union(["LOCK", "PATCH", "POST"])

    /// CONNECT makes a tunnel, PRI is no request, `*` is reserved, and the answer to TRACE repeats credentials
    /// (RFC 9110 §9.3.8, §18.2).
    private static let refused: Set<String> = ["*", "CONNECT", "PRI", "TRACE"]

    /// True for a byte of a token (RFC 9110 §5.6.2, `tchar`).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
