/// Header fields of all answers: nothing that the listener answers may be run, framed or embedded by a page.
enum SecurityHeaders {
    static let all = fields(policy: "default-src 'none'; frame-ancestors 'none'; sandbox")

    /// The header fields of the web page's files, which allow only its own scripts, styles and requests.
    static let page =
        fields(
            policy:
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
        + [("Cross-Origin-Opener-Policy", "same-origin")]

    private static func fields(policy: String) -> [(name: String, value: String)] {
        [
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", policy),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }

    /// The header fields that allow a page of `origin` to read the answer. Credentials are not allowed: cookies are for
    /// the listener's own page.
    static func sharing(with origin: String) -> [(name: String, value: String)] {
        [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
    }

    /// The header fields that describe the requests allowed to a page of `origin`.
    static func preflight(for origin: String) -> [(name: String, value: String)] {
        sharing(with: origin) + [
            ("Access-Control-Allow-Methods", "GET, POST"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
            ("Access-Control-Max-Age", "600"),
        ]
    }
}
