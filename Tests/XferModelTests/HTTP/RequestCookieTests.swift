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
            "\tTRUE\t/\tFALSE\t0\tn\tv", "a.test\tTRUE\tx\tFALSE\t0\tn\tv", "a.test\tTRUE\t/\tFALSE\tsoon\tn\tv",
            "a.test\tTRUE\t/\tFALSE\t0\t\tv", "a.test\tTRUE\t/\tFALSE\t0\tn\tv;w",
            "a.test\tTRUE\t/\tFALSE\t0\tn\tv\u{1}",
            "a test\tTRUE\t/\tFALSE\t0\tn\tv",
        ])
    func aLineThatIsNoCookieIsRefused(line: String) { #expect(RequestCookie(netscape: line) == nil) }

    @Test func nameAndValueHaveAtMost4096Bytes() {
        func cookie(_ count: Int) -> RequestCookie {
            RequestCookie(domain: "a.test", name: "n", value: String(repeating: "v", count: count))
        }
        #expect(cookie(4095).problem == nil && cookie(4096).problem?.field == "value")
    }
}
