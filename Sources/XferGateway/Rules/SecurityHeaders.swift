/// Header fields of all answers: nothing that the listener answers may be run, framed or embedded by a page.
enum SecurityHeaders {
    static let all: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// Lets a page of `origin` read the answer. Credentials are not allowed: there are no cookies.
    static func sharing(with origin: String) -> [(name: String, value: String)] {
        [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
    }

    /// What a page of `origin` may send.
    static func preflight(for origin: String) -> [(name: String, value: String)] {
        sharing(with: origin) + [
            ("Access-Control-Allow-Methods", "GET, POST"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
            ("Access-Control-Max-Age", "600"),
        ]
    }
}
