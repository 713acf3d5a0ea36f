public import XferModel

/// The header fields of one request, for one hop: secrets go only to the origin they were given for.
public enum HopHeaders {
    /// The properties of the request at this hop.
    public struct Hop: Hashable, Sendable {
        public var url: HTTPURL
        /// The method, which differs from the request's own after some redirects. Then no field that describes its
        /// content is sent.
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

    /// True if a field may be sent to the first origin only: secrets, and a `Host` of the client's own.
    private static func isBound(_ name: String) -> Bool {
        Redaction.isSecretHeader(name) || name.equalsIgnoringASCIICase("Host")
    }

    /// True if a field describes content that is no longer sent (RFC 9110 §15.4).
    private static func describesContent(_ lowercased: String) -> Bool {
        lowercased.hasPrefix("content-") || ["digest", "repr-digest", "last-modified"].contains(lowercased)
    }
}

/// Changes to header fields by host (`header_rules`), applied at every hop in their order.
public enum HeaderRules {
    /// Applies the rules for one hop to the header fields.
    ///
    /// - Parameters:
    ///   - fields: the fields to send without the rules.
    ///   - home: the first URL of the request. A secret is sent to the hosts of its rule, but never without TLS when
    ///     the request began with TLS; a rule for every host sends its secrets to the first origin only.
    ///   - isFixed: true for names, in lower case, that no rule changes.
    public static func apply(
        _ rules: [HeaderRule], to fields: [HeaderField], hop: HTTPURL, home: HTTPURL, isFixed: (String) -> Bool
    ) -> [HeaderField] {
        let host = ServerName(host: hop.host)
        var fields = fields
        for rule in rules
        where rule.hosts.isEmpty || rule.hosts.contains(where: { $0.matches(host, port: hop.port) }) {
            for name in rule.remove where !isFixed(name.lowercased()) {
                fields.removeAll { $0.name.equalsIgnoringASCIICase(name) }
            }
            let added = rule.set.filter { field in
                !isFixed(field.name.lowercased())
                    && (!Redaction.isSecretHeader(field.name) || mayKnowSecrets(of: rule, hop, home))
            }
            fields.removeAll { field in added.contains { $0.name.equalsIgnoringASCIICase(field.name) } }
            fields += added
        }
        return fields
    }

    private static func mayKnowSecrets(of rule: HeaderRule, _ hop: HTTPURL, _ home: HTTPURL) -> Bool {
        if rule.hosts.isEmpty { return hop.origin == home.origin }
        return hop.scheme == .https || home.scheme == .http
    }
}
