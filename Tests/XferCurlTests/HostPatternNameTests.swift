import Testing
import XferCurl
import XferModel

@Suite struct HostPatternNameTests {
    @Test(arguments: [
        ("bücher.example", "xn--bcher-kva.example"), ("*.Bücher.example:8443", "*.xn--bcher-kva.example:8443"),
        (".bücher.example", ".xn--bcher-kva.example"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("Example.org", "example.org"), ("[::1]:443", "[::1]:443"),
    ])
    func internationalNamesAreThoseOfURLs(text: String, pattern: String) throws {
        #expect(try HostPattern.parse(text).description == pattern)
    }

    @Test func theURLOfAnInternationalHostMatches() throws {
        let url = try CurlURL.parse("https://www.BÜCHER.example/").url
        #expect(try HostPattern.parse("*.bücher.example").matches(ServerName(host: url.host), port: url.port))
    }

    @Test(arguments: ["*.*.ü.org", "ü.org/x", "a@ü.org", "ü.org:0", "ü.org:x", "ü ü.org", "*ü.org", "ü..org"])
    func whatIsNoPattern(text: String) { #expect(throws: HostPatternError.self) { try HostPattern.parse(text) } }
}
