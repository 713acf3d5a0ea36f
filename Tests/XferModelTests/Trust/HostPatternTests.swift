import Testing
import XferModel

@Suite struct HostPatternTests {
    @Test(
        arguments: [
            // A name alone.
            ("example.org", "example.org", 443, true), ("example.org", "EXAMPLE.org", 443, true),
            ("Example.ORG", "example.org", 443, true), ("example.org", "example.org.", 443, true),
            ("example.org.", "example.org", 443, true), ("example.org", "www.example.org", 443, false),
            ("example.org", "example.org.evil.test", 443, false), ("example.org", "anexample.org", 443, false),
            ("localhost", "localhost", 8443, true),
            // One label.
            ("*.example.org", "www.example.org", 443, true), ("*.example.org", "a.b.example.org", 443, false),
            ("*.example.org", "example.org", 443, false), ("*.example.org", "wwwexample.org", 443, false),
            ("*.example.org", "www.example.org.", 443, true),
            // Any depth.
            (".example.org", "example.org", 443, true), (".example.org", "a.example.org", 443, true),
            (".example.org", "a.b.c.example.org", 443, true), (".example.org", "anexample.org", 443, false),
            // Ports.
            ("example.org:8443", "example.org", 8443, true), ("example.org:8443", "example.org", 443, false),
            ("*.example.org:1", "a.example.org", 1, true), (".example.org:65535", "a.example.org", 65535, true),
            // Addresses, by their bytes.
            ("127.0.0.1", "127.0.0.1", 443, true), ("127.0.0.1:81", "127.0.0.1", 80, false),
            ("[::1]", "[::1]", 443, true), ("[0:0:0:0:0:0:0:1]", "[::1]", 443, true),
            ("[::1]:8443", "[::1]", 8443, true), ("[::1]:8443", "[::1]", 443, false),
            ("[FE80::1]", "[fe80::1%25eth0]", 443, true), ("[::ffff:1.2.3.4]", "[::ffff:102:304]", 443, true),
            ("[::1]", "[::2]", 443, false),
            ("1.2.3.4", "[::ffff:1.2.3.4]", 443, true), ("[::ffff:1.2.3.4]", "1.2.3.4", 443, true),
            ("1.2.3.4", "[::1.2.3.4]", 443, false), (".1.0.0.example", "127.0.0.1", 443, false),
            // Internationalised names, as libcurl writes them.
            ("xn--bcher-kva.example", "xn--bcher-kva.example", 443, true),
            (".xn--bcher-kva.example", "www.xn--bcher-kva.example", 443, true),
        ] as [(String, String, UInt16, Bool)])
    func aHostPatternMatchesHostAndPort(pattern: String, host: String, port: UInt16, isMatch: Bool) throws {
        #expect(try HostPattern(pattern).matches(ServerName(host: host), port: port) == isMatch)
    }

    @Test(arguments: [
        ("", HostPatternError.Problem.empty), ("*", .wildcard), ("*.*.org", .wildcard), ("*example.org", .wildcard),
        ("www.*.org", .wildcard), ("*.", .badName), (".", .badName), ("..org", .badName), ("a..org", .badName),
        ("example.org/x", .isURL), ("https://example.org", .isURL), ("example org", .badName), ("a@b", .badName),
        ("example.org:", .badPort), ("example.org:0", .badPort), ("example.org:65536", .badPort),
        ("example.org:+1", .badPort), ("example.org:https", .badPort), ("::1", .unbracketedAddress),
        ("[::1", .unbracketedAddress), ("[::1]x", .badAddress), ("[::g]", .badAddress), ("[fe80::1%eth0]", .badAddress),
        ("1.2.3", .badAddress), ("1.2.3.4.5", .badAddress), ("256.1.1.1", .badAddress), ("*.0.0.1", .badAddress),
        ("0x7f.1", .badAddress), ("example.0X7F", .badAddress), ("bücher.example", .notASCII),
        (String(repeating: "a", count: 64) + ".org", .badName), (String(repeating: "a.", count: 127) + "org", .badName),
    ])
    func anInvalidHostPatternIsRefusedWithItsProblem(text: String, problem: HostPatternError.Problem) {
        let error = #expect(throws: HostPatternError.self) { try HostPattern(text) }
        #expect(error?.problem == problem)
        #expect(error?.description.isEmpty == false)
    }

    @Test(arguments: [
        ("Example.org", "example.org"), ("*.Example.org:443", "*.example.org:443"), (".a.b.", ".a.b"),
        ("[0:0::1]:1", "[::1]:1"), ("[::ffff:a00:1]:1", "10.0.0.1:1"), ("10.0.0.1", "10.0.0.1"),
    ])
    func aHostPatternIsWrittenInOneForm(text: String, form: String) throws {
        #expect(try HostPattern(text).description == form)
        #expect(try HostPattern(form) == HostPattern(text))
    }

    @Test func hostPatternsAreOrderedBySpecificity() throws {
        let order = [
            "a.example.org:443", "a.example.org", ".a.example.org:443", ".a.example.org", "*.example.org:443",
            "*.example.org", ".example.org:443", ".example.org", ".org",
        ]
        let patterns = try order.map { try HostPattern($0) }
        for (index, pattern) in patterns.enumerated() {
            #expect(pattern.matches(ServerName(host: "a.example.org"), port: 443))
            for (other, less) in patterns.enumerated() {
                #expect(pattern.isMoreSpecific(than: less) == (index < other))
            }
        }
    }

    @Test(arguments: [
        ("0:0:0:0:0:0:0:0", "::"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"),
        ("2001:DB8::0001", "2001:db8::1"), ("::ffff:255.254.0.1", "::ffff:fffe:1"), ("1::", "1::"),
        ("::1:0:0", "::1:0:0"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func addressesAreWrittenInOneForm(text: String, form: String) throws {
        #expect(try #require(IPAddress(text)).description == form)
        #expect(IPAddress(form) == IPAddress(text))
    }

    @Test(arguments: [
        "", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::1.2.3", "1.2.3.4::", "+1::",
        ":1::2",
        "1:2:3:4:5:6:7::8", "01.2.3.4", "1.2.3.4 ", "1.2.3.", "-1.2.3.4", "٣.1.1.1",
    ])
    func aTextThatIsNoIPAddressIsRejected(text: String) { #expect(IPAddress(text) == nil) }
}
