import Testing
import XferModel

/// Lines of cookie files in the Netscape format.
@Suite struct RequestCookieTests {
    @Test(
        arguments: [
            ".Example.org\tTRUE\t/a\tTRUE\t1893456000\tsid\tx=y", "example.org\tFALSE\t/\tFALSE\t0\tname\t",
            "#HttpOnly_example.org\tfalse\t/\ttrue\t0\tname\tvalue with spaces",
        ])
    func aLineIsReadAndWrittenWithAllItSays(line: String) throws {
        let cookie = try #require(RequestCookie(netscape: line))
        #expect(RequestCookie(netscape: cookie.netscapeLine) == cookie)
        #expect(cookie.domain == "example.org" && cookie.problem == nil)
        #expect(cookie.includesSubdomains == line.contains("TRUE\t/a"))
        #expect(!cookie.description.contains("value") && cookie.description.contains("***"))
    }

    @Test func aMissingValueIsAnEmptyOne() {
        #expect(RequestCookie(netscape: "a.test\tTRUE\t/\tFALSE\t0\tname")?.value == "")
    }

    @Test(
        arguments: [
            "", "# Netscape HTTP Cookie File", "a.test", "a.test\tTRUE\t/\tFALSE\t0", "a.test\tYES\t/\tFALSE\t0\tn\tv",
            "\tTRUE\t/\tFALSE\t0\tn\tv", "a.test\tTRUE\t/\tFALSE\tsoon\tn\tv", "a.test\tTRUE\t/\tFALSE\t1.x\tn\tv",
            "a.test\tTRUE\t/\tFALSE\t.5\tn\tv", "a.test\tTRUE\t/\tFALSE\t-\tn\tv",
            "a.test\tTRUE\t/\tFALSE\t0\tn=m\tv", "a.test\tTRUE\t/\tFALSE\t0\tn\tv;\u{301}w",
            "a.test\tTRUE\t/\tFALSE\t0\t\tv", "a.test\tTRUE\t/\tFALSE\t0\tn\tv;w",
            "a.test\tTRUE\t/\tFALSE\t0\tn\tv\u{1}",
            "a test\tTRUE\t/\tFALSE\t0\tn\tv",
        ])
    func aLineThatIsNoCookieIsRefused(line: String) { #expect(RequestCookie(netscape: line) == nil) }

    /// Firefox and Chromium write whole seconds, extensions fractions or milliseconds, Python's http.cookiejar nothing
    /// for a cookie of the session. curl reads the number that the field begins with.
    @Test(
        arguments: [
            ("1893456000", 1_893_456_000), ("1893456000.789", 1_893_456_000), ("1893456000000", 1_893_456_000),
            ("1893456000000.5", 1_893_456_000), ("1893456000000000", 1_893_456_000), ("", 0), ("0", 0), ("-1", 0),
            ("253402300799", 253_402_300_799), ("253402300800", 253_402_300),
            ("99999999999999999999999999", 253_402_300_799),
        ] as [(String, Int64)])
    func anExpiryMayHaveAFractionOrBeInMilliseconds(text: String, seconds: Int64) {
        #expect(RequestCookie(netscape: "a.test\tTRUE\t/\tFALSE\t\(text)\tn\tv")?.expires == seconds)
    }

    /// As curl reads lines without a path, or with a relative one.
    @Test(arguments: [
        "a.test\tTRUE\tFALSE\t0\tn\tv", "a.test\tTRUE\tx\tFALSE\t0\tn\tv", "a.test\tTRUE\t\tFALSE\t0\tn\tv",
    ])
    func aPathThatIsMissingOrRelativeIsTheRoot(line: String) {
        #expect(
            RequestCookie(netscape: line)
                == RequestCookie(domain: "a.test", includesSubdomains: true, name: "n", value: "v"))
    }

    /// wget takes values of 5 KB; servers take lines of some 8 KB.
    @Test func nameAndValueHaveAtMost8000Bytes() {
        func cookie(_ count: Int) -> RequestCookie {
            RequestCookie(domain: "a.test", name: "n", value: String(repeating: "v", count: count))
        }
        #expect(cookie(5120).problem == nil)
        #expect(cookie(7999).problem == nil && cookie(8000).problem?.field == "value")
    }
}
