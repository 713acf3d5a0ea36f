import Testing
import XferCore
import XferModel

/// What RFC 6265 and RFC 6265bis ask beyond the http-state group's suite.
@Suite struct CookieStorageTests {
    private static let now: Int64 = 1_800_000_000

    private static func url(_ text: String, _ scheme: HTTPURL.Scheme = .https) -> HTTPURL {
        let slash = text.firstIndex(of: "/") ?? text.endIndex
        return HTTPURL(
            scheme: scheme, host: String(text[..<slash]), port: scheme.defaultPort,
            target: slash == text.endIndex ? "/" : String(text[slash...]))
    }

    private static func receive(
        _ fields: [String], from url: HTTPURL = url("www.example.org/a/b"), in cookies: inout CookieStorage,
        at time: Int64 = now
    ) {
        let fields = fields.map { HeaderField(name: "set-cookie", value: $0) }
        cookies.receive(fields, from: url, at: time) { !$0.contains(".") || $0 == "co.uk" }
    }

    private static func sent(
        _ set: [String], from: HTTPURL = url("www.example.org/a/b"), to: HTTPURL = url("www.example.org/a/b")
    ) -> String? {
        var cookies = CookieStorage()
        receive(set, from: from, in: &cookies)
        return cookies.field(for: to, at: now)
    }

    /// RFC 6265 §5.3, step 11.
    @Test func namesThatDifferByCaseAreTwoCookies() {
        #expect(Self.sent(["sid=1", "SID=2", "sid=3"]) == "sid=3; SID=2")
        #expect(Self.sent(["sid=1; Path=/a", "sid=2; Path=/A"]) == "sid=1")
    }

    @Test func aCookieThatCoversSubdomainsIsNotTheHostsOwn() {
        #expect(Self.sent(["a=1", "a=2; Domain=www.example.org"]) == "a=1; a=2")
    }

    @Test func maxAgeTakesPrecedenceOverExpires() {
        let past = "Expires=Thu, 01 Jan 1970 00:00:10 GMT"
        #expect(Self.sent(["a=1; Max-Age=9; \(past)", "b=1; \(past); Max-Age=9", "c=1; \(past)"]) == "a=1; b=1")
        #expect(Self.sent(["a=1; Max-Age=9223372036854775808", "b=1; Max-Age=-9223372036854775809"]) == "a=1")
        #expect(Self.sent(["a=1; Max-Age=", "b=1; Max-Age=-", "c=1; Max-Age=1x"]) == "a=1; b=1; c=1")
    }

    @Test func aCookieIsSentUntilItsLastSecond() {
        var cookies = CookieStorage()
        Self.receive(["a=1; Max-Age=10"], in: &cookies)
        let url = Self.url("www.example.org/a/b")
        #expect(cookies.field(for: url, at: Self.now + 9) == "a=1")
        #expect(cookies.field(for: url, at: Self.now + 10) == nil && cookies.lines.isEmpty)
    }

    /// RFC 6265 §5.1.4: up to the last slash.
    @Test func withoutAPathACookieIsForTheDirectoryOfTheRequest() {
        #expect(Self.sent(["a=1"], to: Self.url("www.example.org/a/c")) == "a=1")
        #expect(Self.sent(["a=1"], to: Self.url("www.example.org/a")) == "a=1")
        #expect(Self.sent(["a=1"], to: Self.url("www.example.org/")) == nil)
        #expect(Self.sent(["a=1"], from: Self.url("www.example.org/x?y/z"), to: Self.url("www.example.org/")) == "a=1")
    }

    /// RFC 6265 §5.3, step 5.
    @Test func aCookieOfAPublicSuffixIsForItsOwnHostAlone() {
        let (suffix, below) = (Self.url("co.uk"), Self.url("bbc.co.uk"))
        #expect(Self.sent(["a=1; Domain=co.uk"], from: below, to: below) == nil)
        #expect(Self.sent(["a=1; Domain=co.uk"], from: suffix, to: suffix) == "a=1")
        #expect(Self.sent(["a=1; Domain=co.uk"], from: suffix, to: below) == nil)
    }

    @Test func addressesHaveNoSubdomains() {
        let address = Self.url("10.1.2.3")
        #expect(Self.sent(["a=1; Domain=2.3"], from: address, to: address) == nil)
        #expect(Self.sent(["a=1; Domain=10.1.2.3"], from: address, to: address) == "a=1")
        let six = Self.url("[2001:db8::1]")
        #expect(Self.sent(["a=1"], from: six, to: six) == "a=1")
    }

    @Test func secureCookiesNeedASecureConnectionOrThisMachine() {
        let plain = Self.url("www.example.org/a/b", .http)
        #expect(Self.sent(["a=1; Secure"], to: plain) == nil)
        #expect(Self.sent(["a=1; Secure"], from: plain) == nil)
        let local = Self.url("127.0.0.1/", .http)
        #expect(Self.sent(["a=1; Secure"], from: local, to: local) == "a=1")
    }

    /// RFC 6265bis §5.7, step 15.
    @Test func anInsecureConnectionOverlaysNoSecureCookie() {
        let plain = Self.url("www.example.org/a/b", .http)
        let cases: [(set: String, sent: String)] = [
            ("sid=evil", "sid=good"), ("sid=evil; Domain=example.org", "sid=good"), ("sid=evil; Path=/a/b", "sid=good"),
            ("other=1; Path=/a", "sid=good; other=1"),
        ]
        for (set, sent) in cases {
            var cookies = CookieStorage()
            Self.receive(["sid=good; Secure; Path=/a"], in: &cookies)
            Self.receive([set], from: plain, in: &cookies)
            #expect(cookies.field(for: Self.url("www.example.org/a/b"), at: Self.now) == sent, "\(set)")
        }
    }

    /// RFC 6265bis §4.1.3.
    @Test func prefixesOfNamesAreKept() {
        #expect(Self.sent(["__Secure-a=1", "__secure-b=1; Secure"]) == "__secure-b=1")
        let host = [
            "__Host-a=1; Secure; Path=/", "__Host-b=1; Secure", "__Host-c=1; Path=/",
            "__Host-d=1; Secure; Path=/; Domain=www.example.org",
        ]
        #expect(Self.sent(host) == "__Host-a=1")
    }

    @Test func receivedCookiesHaveAtMost4096Bytes() {
        let longest = String(repeating: "v", count: 4095)
        #expect(Self.sent(["n=\(longest)"]) == "n=\(longest)")
        #expect(Self.sent(["n=\(longest)v", "m=1"]) == "m=1")
        let path = "/" + String(repeating: "p", count: 1024)
        #expect(Self.sent(["n=1; Path=\(path)"]) == "n=1", "the attribute is ignored")
    }

    @Test(arguments: ["a=b\u{0}c", "a=b\rc", "a=b; Path=/\u{7f}"]) func aFieldWithControlCharactersSetsNothing(
        field: String
    ) {
        #expect(Self.sent([field]) == nil)
    }

    @Test func whatDoesNotFitIntoAFieldIsLeftOut() throws {
        var cookies = CookieStorage()
        let value = String(repeating: "v", count: 4000)
        Self.receive(["a=\(value); Path=/a/b", "b=\(value); Path=/a", "c=\(value)", "d=1; Path=/"], in: &cookies)
        let sent = cookies.field(for: Self.url("www.example.org/a/b"), at: Self.now)
        let field = try #require(sent)
        #expect(field == "a=\(value); b=\(value); d=1" && field.utf8.count <= 8190)
    }

    @Test func linesHaveAllThatACookieSays() {
        var cookies = CookieStorage()
        Self.receive(["a=1; HttpOnly; Domain=example.org; Max-Age=5", "A=2; Secure; Path=/"], in: &cookies)
        #expect(
            cookies.lines == [
                "#HttpOnly_.example.org\tTRUE\t/a\tFALSE\t1800000005\ta\t1",
                "www.example.org\tFALSE\t/\tTRUE\t0\tA\t2",
            ])
        var read = CookieStorage()
        read.add(lines: cookies.lines + ["nonsense"])
        #expect(read.lines == cookies.lines)
        #expect(read.field(for: Self.url("www.example.org/a/b"), at: Self.now) == "a=1; A=2")
    }
}
