public import XferModel

/// The rules that decide which responses are cached, and which parts of them (RFC 9111 §3). The cache is private:
/// `private` and `Authorization` do not prevent caching.
public enum Storability {
    /// The reason why a complete response is not cached; nil when it may be.
    ///
    /// - Parameters:
    ///   - fields: the fields that the request was sent with.
    ///   - head: of the final response.
    public static func refusal(
        of request: TransferRequest, sent fields: [HeaderField], answeredBy head: ResponseHead
    ) -> String? {
        if let refusal = refusal(of: request, sent: fields) { return refusal }
        guard (200...599).contains(head.status), head.status != 206, head.status != 304 else {
            return "a response with status \(head.status) does not contain the whole"
        }
        let directives = CacheDirectives(head.fields)
        // §5.2.2.3: a cache that understands the status ignores no-store.
        if directives.has("must-understand") {
            guard Self.understood.contains(head.status) else {
                return "caching of status \(head.status) is not supported"
            }
        } else if directives.has("no-store") {
            return "the response has no-store"
        }
        let usesCookies = request.usesCookies || !request.cookies.isEmpty || head.followsCookies
        if let refusal = Variant.refusal(of: head, usesCookies: usesCookies) { return refusal }
        let isExplicit =
            directives.has("public") || directives.has("private") || directives.has("max-age") || head.has("Expires")
        guard isExplicit || Heuristics.apply(toStatus: head.status) else {
            return "nothing allows to store a response with status \(head.status)"
        }
        return nil
    }

    /// The reason why no response to the request may be cached or used; nil for a plain GET for the whole without
    /// `no-store`.
    public static func refusal(of request: TransferRequest, sent fields: [HeaderField]) -> String? {
        guard request.method == .get, request.bodySummary == nil else {
            return "only responses to plain GET requests are stored"
        }
        if CacheDirectives(fields).has("no-store") { return "the request has no-store" }
        let own = conditional.first { name in request.headers.contains { $0.name.equalsIgnoringASCIICase(name) } }
        return own.map { "the request has a condition of its own, \($0)" }
    }

    /// The fields that are kept: all but those of the connection (§3.1) and `Set-Cookie`, which has been applied
    /// already.
    public static func keptFields(of fields: [HeaderField]) -> [HeaderField] {
        let named = fields.filter { $0.name.equalsIgnoringASCIICase("Connection") }.flatMap { field in
            field.value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        }
        let dropped = ofConnection.union(named)
        return fields.filter { !dropped.contains($0.name.lowercased()) }
    }

    /// The head of a whole that was combined from parts with one strong validator (§3.4), with the fields of a single
    /// response. Nil when the parts were not combined in this way.
    ///
    /// - Parameter isCombined: true if this service requested the parts and combined them. An unrequested part is never
    ///   taken for the whole, even if its head says so.
    public static func combined(_ head: ResponseHead, length: Int64, isCombined: Bool) -> ResponseHead? {
        guard head.status == 206 else { return head }
        guard isCombined, head.etag.map(EntityTag.isStrong) == true else { return nil }
        var whole = head
        whole.status = 200
        whole.fields.removeAll { field in
            ["Content-Range", "Content-Length"].contains { field.name.equalsIgnoringASCIICase($0) }
        }
        whole.fields.append(HeaderField(name: "Content-Length", value: "\(length)"))
        return whole
    }

    /// Request fields that make the response conditional or partial.
    private static let conditional = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
    ]

    private static let ofConnection: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "trailer", "set-cookie", "set-cookie2",
    ]

    /// Final statuses of RFC 9110 §15.
    private static let understood: Set<Int> = Set(200...205).union(300...305).union([307, 308]).union(400...417)
        .union([421, 422, 426]).union(500...505)
}
