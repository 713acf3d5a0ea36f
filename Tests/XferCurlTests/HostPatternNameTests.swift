import Testing
import XferCurl
import XferModel
import XferTestSupport

@Suite struct HostPatternNameTests {
    @Test(arguments: [
        ("bücher.example", "xn--bcher-kva.example"), ("*.Bücher.example:8443", "*.xn--bcher-kva.example:8443"),
        (".bücher.example", ".xn--bcher-kva.example"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("Example.org", "example.org"), ("[::1]:443", "[::1]:443"),
    ])
    func internationalNamesAreEncodedAsInURLs(text: String, pattern: String) throws {
        #expect(try HostPattern.parse(text).description == pattern)
    }

    @Test func theURLOfAnInternationalHostMatchesItsPattern() throws {
        let url = try CurlURL.parse("https://www.BÜCHER.example/").url
        #expect(try HostPattern.parse("*.bücher.example").matches(ServerName(host: url.host), port: url.port))
    }

    @Test(arguments: ["*.*.ü.org", "ü.org/x", "a@ü.org", "ü.org:0", "ü.org:x", "ü ü.org", "*ü.org", "ü..org"])
    func aTextThatIsNoPatternIsRefused(text: String) {
        #expect(throws: HostPatternError.self) { try HostPattern.parse(text) }
    }

    /// A pattern that was taken has one spelling, and matches the host that libcurl finds in a URL with its name.
    @Test func anAcceptedPatternMatchesItsOwnURL() throws {
        var random = SplitMix64(seed: 0x686f_7374)
        let pieces = [
            "a", "B", "xn--bcher-kva", "bücher", "ß", "İ", "1", "127", "0x7f", "0X7F", "017", ".", ".", "..", "*", "*.",
            "-",
            "_", "[", "]", "::1", ":", ":443", ":0", "%41", "%", "@", "#", "?", "/", " ", "\u{3002}", "\u{200d}",
            "\u{ff0e}",
            "example", "org", "::ffff:1.2.3.4", "localhost",
        ]
        var taken = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let pattern = try? HostPattern.parse(text) else { continue }
            taken += 1
            #expect(try HostPattern(pattern.description) == pattern, "\(text)")
            #expect(try HostPattern.parse(pattern.description) == pattern, "\(text)")
            #expect(!pattern.name.description.contains("*") && !pattern.name.description.isEmpty, "\(text)")
            guard pattern.kind == .exact, let url = try? CurlURL.parse("https://\(text)/").url else { continue }
            #expect(pattern.matches(ServerName(host: url.host), port: url.port), "\(text) as \(url.host):\(url.port)")
        }
        #expect(taken > 1000)
    }
}
