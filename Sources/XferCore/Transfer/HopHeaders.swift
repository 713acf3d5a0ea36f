public import XferModel

/// The header fields of one request, for one hop: secrets go only to the origin they were given for.
public enum HopHeaders {
    /// Fields the engine alone decides about: a client's own would break framing or resumption.
    private static let reserved: Set<String> = [
        "range", "if-range", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect",
    ]

    /// All fields but `Host`, in the order sent.
    ///
    /// Defaults fill only what is absent; what selected the kept representation replaces the request's own.
    public static func fields(
        for request: TransferRequest, plan: RequestPlan, hop: HTTPURL, userAgent: String
    ) -> [HeaderField] {
        let isAtHome = hop.origin == request.url.origin
        let planned = plan.headers
        var fields = request.headers.filter { field in
            !reserved.contains(field.name.lowercased()) && (isAtHome || !isBound(field.name))
                && !(plan.range != nil && field.name.equalsIgnoringASCIICase("Accept-Encoding"))
                && planned.firstValue(named: field.name) == nil
        }
        if plan.range != nil {
            for field in plan.kept.selectingHeaders {
                fields.removeAll { $0.name.equalsIgnoringASCIICase(field.name) }
            }
            fields += plan.kept.selectingHeaders
        }
        func fill(_ name: String, _ value: String) {
            if fields.firstValue(named: name) == nil { fields.append(HeaderField(name: name, value: value)) }
        }
        fill("User-Agent", userAgent)
        fill("Accept-Encoding", "identity")
        if isAtHome, let credential = request.credential, case .value(let password) = credential.secret {
            fill("Authorization", "Basic " + Base64.encode("\(credential.user):\(password)".utf8))
        }
        return fields + planned
    }

    /// Whether a field is meant for the first origin only: secrets, and a `Host` of the client's own.
    private static func isBound(_ name: String) -> Bool {
        Redaction.isSecretHeader(name) || name.equalsIgnoringASCIICase("Host")
    }
}
