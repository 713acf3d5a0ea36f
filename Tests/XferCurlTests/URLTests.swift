import Testing
import XferCurl
import XferModel

@Suite struct URLTests {
    @Test(arguments: [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG:443/a/../b/./c?x=1&y#part", "https://example.org/b/c?x=1&y"),
        ("http://example.org:8080/%7Euser?q=%20", "http://example.org:8080/%7Euser?q=%20"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://bücher.example/ü?ä", "http://xn--bcher-kva.example/%c3%bc?%c3%a4"),
        ("http://example.org?x", "http://example.org/?x"),
        ("http://example.org/a%2Fb//c", "http://example.org/a%2Fb//c"),
    ])
    func urlsAreNormalised(text: String, expected: String) throws {
        #expect(try CurlURL.parse(text).url.string == expected)
    }

    @Test(arguments: [
        ("http://example.org/a/../b/./c?x=../y", "http://example.org/a/../b/./c?x=../y"),
        ("http://example.org/..%2f./", "http://example.org/..%2f./"), ("HTTP://Example.org/.", "http://example.org/."),
    ])
    func dotSegmentsStayWhereTheyAreWanted(text: String, expected: String) throws {
        #expect(try CurlURL.parse(text, keepsPath: true).url.string == expected)
    }

    @Test func userInfoIsSplitOff() throws {
        let parsed = try CurlURL.parse("https://me:p%40ss@example.org/x")
        #expect(parsed.url.string == "https://example.org/x")
        #expect(parsed.credential?.user == "me")
        #expect(parsed.credential?.secret == .value("p@ss"))
        #expect(try CurlURL.parse("https://example.org/x").credential == nil)
    }

    @Test(arguments: [
        ("", URLSyntaxError.empty), ("example.org/file", .noScheme), ("/etc/passwd", .noScheme),
        ("//example.org/", .noScheme), ("ftp://example.org/", .unsupportedScheme("ftp")),
        ("file:///etc/passwd", .unsupportedScheme("file")), ("FILE:/etc/passwd", .unsupportedScheme("file")),
        ("javascript:alert(1)", .unsupportedScheme("javascript")), ("http://", .noHost), ("http:///path", .noHost),
        ("http:path", .noHost), ("http://exa mple.org/", .whitespace), (" http://example.org/", .whitespace),
        ("http://example.org/\u{a0}", .whitespace), ("http://example.org/\r\nX: y", .controlCharacter),
        ("http://example.org/\0", .controlCharacter), ("http://example.org/\u{85}", .controlCharacter),
        ("http://example.org:99999/", .badPort), ("http://example.org:x/", .badPort),
        ("http://example.org:0/", .badPort),
        ("http://[::1/", .badHost), ("http://exa|mple.org/", .badHost), ("123", .noScheme),
        ("http://" + String(repeating: "a", count: 20_000), .tooLong(limit: 16_384)),
    ])
    func aTextThatIsNoURLIsRefusedWithTheReason(text: String, expected: URLSyntaxError) {
        #expect(throws: expected) { try CurlURL.parse(text) }
    }

    @Test(arguments: [
        ("/b", "http://example.org/b"), ("c?d", "http://example.org/a/c?d"), ("?x", "http://example.org/a/b?x"),
        ("../z", "http://example.org/z"), ("//other.org/x", "http://other.org/x"),
        ("https://me:secret@other.org/#f", "https://other.org/"), ("/with space", "http://example.org/with%20space"),
        ("/ü", "http://example.org/%c3%bc"), ("#only", "http://example.org/a/b"),
    ])
    func relativeReferencesAreResolved(reference: String, expected: String) throws {
        let base = try CurlURL.parse("http://example.org/a/b").url
        #expect(try CurlURL.resolve(reference, against: base).string == expected)
    }

    @Test(arguments: ["file:///etc/passwd", "mailto:me@example.org", "", "http://", "javascript:x"])
    func referencesToAnotherSchemeAreRefused(reference: String) throws {
        let base = try CurlURL.parse("http://example.org/a/b").url
        #expect(throws: URLSyntaxError.self) { try CurlURL.resolve(reference, against: base) }
    }
}
