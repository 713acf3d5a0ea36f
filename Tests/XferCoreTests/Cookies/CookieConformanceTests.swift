import Testing
import XferCore
import XferModel
import XferTestSupport

/// Cookies by the sections of RFC 6265, and as the suites of curl, wget and wget2 expect them.
@Suite struct CookieConformanceTests {
    struct Subject: Sendable {
        var from = "http://www.field.test/a/b"
        /// `Set-Cookie` fields in order.
        var set: [String]
        var to = "http://www.field.test/a/b"
        /// The `Cookie` field; nil is none.
        var sent: String?
    }

    /// A date in the past: a cookie with it is gone, unless the date cannot be read, so that the attribute is ignored.
    private static func dated(_ date: String, isGone: Bool) -> Subject {
        Subject(set: ["k=v; Expires=\(date)"], sent: isGone ? nil : "k=v")
    }

    private static let huge = String(repeating: "h", count: 3000)

    static let dates: [ConformanceCase<Subject>] = [
        .same("rfc6265 5.1.1-asctime", dated("Mon Nov 18 06:07:08 1996", isGone: true)),
        .same("rfc6265 5.1.1-dashes", dated("Monday, 18-Nov-96 06:07:08 GMT", isGone: true)),
        .same("rfc6265 5.1.1-order", dated("1996 06:07:08 nov 18", isGone: true)),
        .same("rfc6265 5.1.1-short", dated("8 Nov 1996 6:7:8", isGone: true)),
        .same("rfc6265 5.1.1-long-month", dated("18 November 1996 06:07:08", isGone: true)),
        .same("rfc6265 5.1.1-year-70", dated("18 Nov 70 06:07:08", isGone: true)),
        .same("rfc6265 5.1.1-year-69", dated("18 Nov 69 06:07:08", isGone: false)),
        .same("rfc6265 5.1.1-no-time", dated("18 Nov 1996", isGone: false)),
        .same("rfc6265 5.1.1-no-month", dated("18 1996 06:07:08", isGone: false)),
        .same("rfc6265 5.1.1-hour-24", dated("18 Nov 1996 24:00:00", isGone: false)),
        .same("rfc6265 5.1.1-minute-60", dated("18 Nov 1996 06:60:00", isGone: false)),
        .same("rfc6265 5.1.1-day-0", dated("0 Nov 1996 06:07:08", isGone: false)),
        .same("rfc6265 5.1.1-day-31", dated("31 Nov 1996 06:07:08", isGone: false)),
        .same("rfc6265 5.1.1-year-1600", dated("18 Nov 1600 06:07:08", isGone: false)),
    ]

    static let fields: [ConformanceCase<Subject>] = [
        .same("rfc6265 5.1.3-equal", Subject(set: ["k=v; Domain=www.field.test"], sent: "k=v")),
        .same(
            "rfc6265 5.1.3-below",
            Subject(set: ["k=v; Domain=field.test"], to: "http://api.field.test/a/b", sent: "k=v")),
        .same(
            "rfc6265 5.1.3-other-end",
            Subject(set: ["k=v; Domain=field.test"], to: "http://afield.test/a/b", sent: nil)),
        .same(
            "rfc6265 5.1.3-address",
            Subject(from: "http://192.0.2.7/", set: ["k=v; Domain=2.7"], to: "http://192.0.2.7/", sent: nil)),
        .same("rfc6265 5.1.4-default", Subject(set: ["k=v"], to: "http://www.field.test/a", sent: "k=v")),
        .same("rfc6265 5.1.4-sibling", Subject(set: ["k=v"], to: "http://www.field.test/ab", sent: nil)),
        .same(
            "rfc6265 5.1.4-slash", Subject(set: ["k=v; Path=/a/"], to: "http://www.field.test/a", sent: nil)),
        .same(
            "rfc6265 5.1.4-query",
            Subject(from: "http://www.field.test/q?x=/y/z", set: ["k=v"], to: "http://www.field.test/", sent: "k=v")),
        .same("rfc6265 5.2-no-equals", Subject(set: ["kv", "other=1"], sent: "other=1")),
        .same("rfc6265 5.2-no-name", Subject(set: ["=v", " =v"], sent: nil)),
        .same("rfc6265 5.2-blanks", Subject(set: ["  k\t=  v  ; x"], sent: "k=v")),
        .same("rfc6265 5.2-equals-in-value", Subject(set: ["k=a=b=="], sent: "k=a=b==")),
        .same("rfc6265 5.2-quotes", Subject(set: [#"k="a, b""#], sent: #"k="a, b""#)),
        .same("rfc6265 5.2-unknown", Subject(set: ["k=v; Lang=en; =x; ;"], sent: "k=v")),
        .same("rfc6265 5.2-empty-value", Subject(set: ["k="], sent: "k=")),
        .same("rfc6265 5.2.1-unreadable", Subject(set: ["k=v; Expires=soon"], sent: "k=v")),
        .same("rfc6265 5.2.2-words", Subject(set: ["k=v; Max-Age=ten"], sent: "k=v")),
        .same("rfc6265 5.2.2-zero", Subject(set: ["k=v", "k=w; Max-Age=0"], sent: nil)),
        .same("rfc6265 5.2.2-negative", Subject(set: ["k=v; Max-Age=-7"], sent: nil)),
        .same(
            "rfc6265 5.2.2-before-expires",
            Subject(set: ["k=v; Max-Age=60; Expires=Mon, 18 Nov 1996 06:07:08 GMT"], sent: "k=v")),
        .same("rfc6265 5.2.3-empty", Subject(set: ["k=v; Domain="], sent: "k=v")),
        .same("rfc6265 5.2.3-dot", Subject(set: ["k=v; Domain=.FIELD.test"], sent: "k=v")),
        .same(
            "rfc6265 5.2.3-last", Subject(set: ["k=v; Domain=else.test; Domain=field.test"], sent: "k=v")),
        .same(
            "rfc6265 5.2.4-relative", Subject(set: ["k=v; Path=a"], to: "http://www.field.test/a/c", sent: "k=v")),
        .same("rfc6265 5.2.4-last", Subject(set: ["k=v; Path=/x; Path=/a"], sent: "k=v")),
        .same(
            "rfc6265 5.2.5-value",
            Subject(
                from: "https://www.field.test/a/b", set: ["k=v; Secure=no"], sent: nil)),
        .same("rfc6265 5.2.6", Subject(set: ["k=v; HTTPonly; Max-Age=60"], sent: "k=v")),
        .same("rfc6265 5.3-foreign", Subject(set: ["k=v; Domain=else.test"], sent: nil)),
        .same("rfc6265 5.3-below", Subject(set: ["k=v; Domain=deep.www.field.test"], sent: nil)),
        .same("rfc6265 5.3-suffix", Subject(set: ["k=v; Domain=test"], sent: nil)),
        .same("rfc6265 5.3-replaced", Subject(set: ["k=1", "m=2", "k=3"], sent: "k=3; m=2")),
        .same("rfc6265 5.3-case", Subject(set: ["k=1", "K=2"], sent: "k=1; K=2")),
        .same(
            "rfc6265 5.4-order",
            Subject(set: ["k=1; Path=/", "m=2; Path=/a/b", "n=3; Path=/a", "o=4; Path=/"], sent: "m=2; n=3; k=1; o=4")),
        .same(
            "rfc6265 5.4-secure",
            Subject(from: "https://www.field.test/a/b", set: ["k=1; Secure", "m=2"], sent: "m=2")),
        .differs(
            "rfc6265 5.2.5-plain", because: "RFC 6265bis: a connection that is not secure sets no secure cookie",
            Subject(set: ["k=v; Secure"], to: "https://www.field.test/a/b", sent: nil)),
        .differs(
            "rfc6265 5.2-controls", because: "RFC 6265bis: a field with control characters sets nothing",
            Subject(set: ["k=a\u{1}b"], sent: nil)),
    ]

    static let programs: [ConformanceCase<Subject>] = [
        .same(
            "curl 31",
            Subject(
                from: "http://host.test/we/page",
                set: [
                    "far=1; domain=elsewhere.test; path=/ ; secure", "deep=x  ; domain=host.test; path=/quiet/",
                    "all=here; domain=host.test ; path=/;", "eat=1; domain=a.b.a;", "nothing",
                    "   plain=value; expires=Fri Feb 1 10:11:12 GMT 2036", "short; domain=ahost",
                ], to: "http://host.test/we/next", sent: "plain=value; all=here")),
        .same(
            "curl 46",
            Subject(
                set: [
                    "keep=always; expires=Fri, 01-Feb-2036 10:11:12 GMT; path=/", "brief=now; path=/", "bare=; path=/;",
                    "huge=\(huge)",
                ], sent: "huge=\(huge); keep=always; brief=now; bare=")),
        .same(
            "curl 61",
            Subject(
                from: "https://www.sub.field.test/we/x",
                set: [
                    "a=1; httponly; domain=field.test", "b=2; domain=sub.field.test",
                    "c=3; domain=field.test; path=/moo; secure", "d=4; domain=nope.field.test", "e=5; domain=else.test",
                    "f=6; domain=..test; path=/", "g=7; domain=.test; path=/",
                ], to: "https://www.sub.field.test/we/y", sent: "a=1; b=2")),
        .same(
            "curl 329",
            Subject(set: ["k=old; Max-Age=900", "m=1", "n=2; Max-Age=-1", "k=new; Max-Age=0"], sent: "m=1")),
        .same(
            "curl 1160", Subject(set: ["        =          ;           \(huge)", "k=1"], sent: "k=1")),
        .same(
            "curl 1218",
            Subject(
                from: "http://field.test/c", set: ["k=v; domain=.field.test"], to: "http://bfield.test/c", sent: nil)),
        .same(
            "curl 1228",
            Subject(
                set: ["k=1; domain=.field.test; path=/;", "m=2; domain=.field.test; path=/dir;"],
                to: "http://www.field.test/dirdir/", sent: "k=1")),
        .same(
            "curl 392",
            Subject(
                from: "http://localhost/set", set: ["tea=green; path=/; secure"], to: "http://localhost/next",
                sent: "tea=green")),
        .differs(
            "curl 1105", because: "RFC 6265 §5.2.4: a path that does not begin with a slash, as in quotes, is ignored",
            Subject(
                from: "http://www.field.test/we/set?a=b*c/d/e",
                set: [
                    "tea=green;", "far=1; domain=www.field.test; path=\"/other/\"", "up=2; domain=.0.0.1; path=/",
                    "te\ta=3", "cu\tp=", "b=x\ty",
                ], to: "http://www.field.test/we/next", sent: "tea=green; far=1")),
        .same("curl 1155", Subject(set: ["domain=tea;path=/"], to: "http://www.field.test/", sent: "domain=tea")),
        .same(
            "curl 1216",
            Subject(
                from: "http://field.test/c/1",
                set: ["a=1; path=/a", "b=2; path=/c", "c=3; domain=field.test; path=/c"],
                to: "http://field.test/c/2", sent: "b=2; c=3")),
        .same(
            "curl 1415",
            Subject(
                set: [
                    "a=1; domain=field.test; path=/;",
                    "b=2; expires=Tuesday, 18-Nov-2036 06:07:08 GMT; domain=field.test; path=/;",
                    "c=3; expires=Monday, 18-Nov-1996 06:07:08 GMT; domain=field.test; path=/;",
                ], sent: "a=1; b=2")),
        .same("wget Test-cookie", Subject(set: ["k=v; path=/"], to: "http://www.field.test/other", sent: "k=v")),
        .same(
            "wget Test-cookie-domain-mismatch", Subject(set: ["k=v; path=/; DomAIn=.else.test"], sent: nil)),
        .same(
            "wget Test-cookie-expires",
            Subject(
                set: [
                    "k=v; path=/; Expires=Tue, 18 Nov 2036 06:07:08 GMT", "m=1; path=/",
                    "k=v; path=/; Expires=Mon, 18 Nov 1996 06:07:08 GMT",
                ], sent: "m=1")),
        .same(
            "wget2 unit-cookies-allowed",
            Subject(
                set: ["k=a=b; expires=Tuesday, 18-Nov-2036 06:07:08 GMT; path=/; domain=.field.test; HttpOnly"],
                to: "http://mail.field.test/", sent: "k=a=b")),
        .same(
            "wget2 unit-cookies-asctime",
            Subject(set: ["k=v; expires=Tue Nov 18 06:07:08 2036; path=/; domain=.field.test"], sent: "k=v")),
        .same(
            "wget2 unit-cookies-without-path",
            Subject(
                from: "http://www.field.test/", set: ["k=v; domain=.field.test"], to: "http://www.field.test/a",
                sent: "k=v")),
        .same(
            "wget2 unit-cookies-without-domain",
            Subject(set: ["k=v; path=/"], to: "http://mail.www.field.test/", sent: nil)),
        .same("wget2 unit-cookies-foreign", Subject(set: ["k=v; path=/; domain=.else.test"], sent: nil)),
        .same("wget2 unit-cookies-supercookie", Subject(set: ["k=v; path=/; domain=.test"], sent: nil)),
    ]

    @Test(arguments: dates + fields + programs)
    func theCookiesAreSentThatTheSuiteExpects(test: ConformanceCase<Subject>) throws {
        let subject = test.subject
        let now: Int64 = 1_800_000_000
        var cookies = CookieStorage()
        for field in subject.set {
            cookies.receive(
                [HeaderField(name: "Set-Cookie", value: field)], from: try Self.url(subject.from), at: now
            ) { !$0.contains(".") }
        }
        #expect(cookies.field(for: try Self.url(subject.to), at: now) == subject.sent)
    }

    private static func url(_ text: String) throws -> HTTPURL {
        let scheme: HTTPURL.Scheme = text.hasPrefix("https:") ? .https : .http
        let rest = text.dropFirst(scheme.rawValue.count + 3)
        let slash = try #require(rest.firstIndex(of: "/"))
        return HTTPURL(
            scheme: scheme, host: String(rest[..<slash]), port: scheme.defaultPort, target: String(rest[slash...]))
    }
}
