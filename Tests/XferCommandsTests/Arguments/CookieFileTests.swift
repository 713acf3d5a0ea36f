import Testing
import XferModel
import XferProtocol

@testable import XferCommands

/// Files of `-b`, as browsers export them and as curl and wget take them.
@Suite struct CookieFileTests {
    private func line(_ domain: String, _ name: String, tail: Bool = true) -> String {
        "\(tail ? "." : "")\(domain)\t\(tail ? "TRUE" : "FALSE")\t/\tFALSE\t0\t\(name)\tv"
    }

    private func file(_ lines: [String]) -> CookieFile { CookieFile(Array(lines.joined(separator: "\n").utf8)) }

    @Test func aByteOrderMarkAndLineEndsOfWindowsAreNoPartOfACookie() {
        let text =
            "\u{feff}# Netscape HTTP Cookie File\r\n\r\n\(line("a.test", "n"))\r\n#HttpOnly_\(line("a.test", "m"))\r\n"
        let file = CookieFile(Array(text.utf8))
        #expect(file.cookies.map(\.name) == ["n", "m"] && file.cookies.map(\.value) == ["v", "v"])
        #expect(file.skipped.isEmpty && file.warning(option: "-b", path: "c") == nil)
    }

    @Test func aBadLineIsLeftOutAndCounted() {
        let long = "a.test\tTRUE\t/\tFALSE\t0\tlong\t" + String(repeating: "v", count: 5120)
        var bytes = Array(
            (["nonsense", line("a.test", "n"), "a.test\tTRUE", long].joined(separator: "\n") + "\n").utf8)
        bytes += [0x68, 0xff, 0x0a]
        let file = CookieFile(bytes)
        #expect(file.cookies.map(\.name) == ["n", "long"] && file.skipped == [1, 3, 5])
        #expect(
            file.warning(option: "-b", path: "c")
                == "warning: -b: 3 lines of c are not cookies, the first is line 1; the other 2 are used")
        #expect(
            self.file(["x", line("a.test", "n")]).warning(option: "-b", path: "-")
                == "warning: -b: line 1 of standard input is not a cookie; the one cookie left is used")
    }

    @Test func aFileWithoutACookieIsRefusedWithItsFirstLine() {
        func message(_ text: String) -> String? {
            let error = #expect(throws: CommandFailure.self) {
                try CookieFile(Array(text.utf8), option: "-b", path: "c")
            }
            return error?.message
        }
        #expect(message("# nothing\n") == "-b: c has no cookies")
        #expect(message("# json\n[{}]\n")?.hasSuffix("found another form in line 2") == true)
    }

    /// A browser's whole export.
    @Test func ofAManyCookiesThoseOfTheURLsSiteAreSent() {
        let others = (0..<5000).map { line("site\($0).test", "o\($0)") }
        let own = [
            line("example.org", "site"), line("www.example.org", "host", tail: false), line("cdn.example.org", "cdn"),
            line("ample.org", "no"), line("10.0.0.1", "address", tail: false),
        ]
        let file = file(own + others)
        func names(_ urls: String...) -> [String] { file.records(for: urls).map(\.name) }
        #expect(names("https://WWW.example.org:8443/x?y") == ["site", "host", "cdn"])
        #expect(names("https://u:p@cdn.example.org/", "http://site7.test/") == ["site", "cdn", "o7", "host"])
        #expect(names("http://10.0.0.1/") == ["address"] && names("http://2.0.0.1/") == [])
        // What the URL's host is, is not known here.
        #expect(names("relative").count == 1000 && names("http://bücher.test/").count == 1000 && names().count == 1000)
    }

    @Test func ofOneSiteAsManyAreSentAsATaskCanHave() {
        let file = file((0..<1200).map { line("b.test", "b\($0)") } + [line("a.b.test", "own", tail: false)])
        let names = file.records(for: ["http://a.b.test/"]).map(\.name)
        #expect(
            names.count == 1000
                && file.records(for: ["http://a.b.test/"]).allSatisfy { $0.cookie.isFor(host: "a.b.test") })
    }

    /// Redirects may lead anywhere.
    @Test func aSmallFileIsSentAsAWhole() {
        let hundred = (0..<100).map { line("site\($0).test", "n") }
        #expect(file(hundred).records(for: ["http://elsewhere.test/"]).count == 100)
        #expect(file(hundred + [line("x.test", "n")]).records(for: ["http://elsewhere.test/"]).isEmpty)
    }
}

/// URLs as people paste them.
@Suite struct PastedURLTests {
    /// RFC 3986, appendix C.
    @Test(arguments: [
        "http://a.test/x", " http://a.test/x\t", "<http://a.test/x>", "<URL:http://a.test/x>", "\"http://a.test/x\"",
        "'http://a.test/x'", "< http://a.test/x >", "\"<http://a.test/x>\" ", "“http://a.test/x”",
        "\u{a0}http://a.test/x",
    ])
    func whatSurroundsAURLIsNoPartOfIt(text: String) { #expect(PastedURL.bare(text) == "http://a.test/x") }

    @Test(arguments: ["\"http://a.test/x", "http://a.test/x>", "http://a.test/'x'", "\"", "<>", ""])
    func anUnpairedDelimiterStays(text: String) { #expect(PastedURL.bare(text) == text) }
}
