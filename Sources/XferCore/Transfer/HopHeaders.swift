public import XferModel

/// The header fields of one request, for one hop: secrets go only to the origin they were given for.
public enum HopHeaders {
    /// What distinguishes the request at this hop.
    public struct Hop: Hashable, Sendable {
        public var url: HTTPURL
        /// Differs from the request's own after some redirects; then no field that describes its content is sent.
        public var method: HTTPMethod
        /// The content is `multipart/form-data`, whose `Content-Type` libcurl writes.
        public var hasParts: Bool

        public init(url: HTTPURL, method: HTTPMethod = .get, hasParts: Bool = false) {
            self.url = url
            self.method = method
            self.hasParts = hasParts
        }
    }

    /// Fields that only the engine sets: a client's own would break framing or resumption.
    private static let reserved: Set<String> = [
        "range", "if-range", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "connection",
        "keep-alive", "proxy-connection",
    ]

    /// All fields but `Host` and those that libcurl adds for a credential, in the order sent.
    ///
    /// Defaults fill only absent fields; `request.headerRules` then change the result. The fields that selected the
    /// kept representation replace the request's own and stay.
    public static func fields(
        for request: TransferRequest, plan: RequestPlan, hop: Hop, credential: ResolvedCredential? = nil,
        userAgent: String
    ) -> [HeaderField] {
        let isAtHome = hop.url.origin == request.url.origin
        let planned = plan.headers
        let selecting = plan.range == nil ? [] : plan.kept.selectingHeaders
        func isFixed(_ lowercased: String) -> Bool {
            reserved.contains(lowercased) || hop.hasParts && lowercased == "content-type"
                || hop.method != request.method && describesContent(lowercased)
                || plan.range != nil && lowercased == "accept-encoding"
                || planned.firstValue(named: lowercased) != nil || selecting.firstValue(named: lowercased) != nil
        }
        var fields = request.headers.filter { !isFixed($0.name.lowercased()) && (isAtHome || !isBound($0.name)) }
        fields += selecting
        func fill(_ name: String, _ value: String) {
            if fields.firstValue(named: name) == nil { fields.append(HeaderField(name: name, value: value)) }
        }
        fill("User-Agent", userAgent)
        fill("Accept-Encoding", "identity")
        if case .field(let value) = HopAuthentication(credential, hop: hop.url) { fill("Authorization", value) }
        fields = HeaderRules.apply(
            request.headerRules, to: fields, hop: hop.url, home: request.url, isFixed: isFixed)
        return fields + planned
    }

    /// Whether a field is meant for the first origin only: secrets, and a `Host` of the client's own.
    private static func isBound(_ name: String) -> Bool {
        Redaction.isSecretHeader(name) || name.equalsIgnoringASCIICase("Host")
    }

    /// Fields that describe content that is not sent any more (RFC 9110 §15.4).
    private static func describesContent(_ lowercased: String) -> Bool {
        lowercased.hasPrefix("content-") || ["digest", "repr-digest", "last-modified"].contains(lowercased)
    }
}
