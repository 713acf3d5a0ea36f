import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct SanitisingTests {
    @Test(
        arguments: [
            ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"),
            ("/etc/passwd", "passwd"), ("dir/", "dir"), ("a/..", "a"), (".bashrc", "bashrc"), ("...x", "x"),
            (" . .x ", "x"), ("a\0b\n\tc\u{7F}\u{85}", "abc"), ("", "download"), (".", "download"), ("..", "download"),
            ("/", "download"), ("\u{0}", "download"), (" ", "download"), ("photo\u{202E}gpj.exe", "photogpj.exe"),
            ("\u{FEFF}.x", "x"), ("ü ñ 日本.txt", "ü ñ 日本.txt"), ("a:b*c?.txt", "a:b*c?.txt"), ("x.", "x"),
            (".xfer-7.part", "xfer-7.part"), ("\u{2028}.htaccess", "htaccess"),
            ("-rf", "rf"), ("--", "download"), ("\u{200B}-rf", "rf"), (" - x", "x"), (".-.x", "x"),
            ("-.xfer-1", "xfer-1"),
            ("~", "download"), ("~root", "root"), ("~/.ssh", "ssh"), ("a-~b~", "a-~b~"), ("x. . ", "x"),
            ("...", "download"),
            ("a\u{AD}b\u{2060}\u{3164}\u{E0041}c", "abc"), ("dir\\-x", "x"),
        ])
    func maliciousNamesAreSanitised(text: String, name: String) {
        #expect(FileName.sanitised(text) == name)
    }

    @Test
    func aGivenFallbackReplacesAnUnusableName() {
        #expect(FileName.sanitised("..", fallback: "index.html") == "index.html")
    }

    @Test(
        arguments: [
            ("x", ".txt"), ("日", ".tar.gz"), ("👨‍👩‍👧‍👦", ".jpeg"), ("é", ""),
        ])
    func longNamesKeepTheirExtensionAndWholeCharacters(character: String, suffix: String) {
        let name = FileName.sanitised(String(repeating: character, count: 300) + suffix)
        #expect(name.utf8.count <= 255)
        #expect(name.utf8.count > 255 - character.utf8.count)
        #expect(name.hasSuffix(suffix))
        #expect(name.dropLast(suffix.count).allSatisfy { String($0) == character })
    }

    @Test(arguments: ["a", "ä"])
    func oneEndlessCharacterIsCutBetweenScalars(start: String) {
        let name = FileName.sanitised(start + String(repeating: "\u{301}", count: 400) + ".txt")
        #expect(name.utf8.count <= 255 && name.utf8.count >= 254)
        #expect(!name.unicodeScalars.contains("\u{FFFD}"))
        #expect(name.hasSuffix(".txt"))
    }

    @Test func anEndlessExtensionIsNotTreatedAsAnExtension() {
        let name = FileName.sanitised("a." + String(repeating: "x", count: 400))
        #expect(name == "a." + String(repeating: "x", count: 253))
    }

    @Test func aSanitisedNameIsAlwaysAFileNameAndStaysUnchanged() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<20_000 {
            let text = randomText(&generator)
            let name = FileName.sanitised(text)
            #expect(FileName.problem(with: name) == nil, "\(text.debugDescription)")
            #expect(!name.contains("/") && !name.contains("\\"), "\(text.debugDescription)")
            // By scalars: a combining mark behind a dash makes another character of it, but the byte is a dash.
            #expect(name.unicodeScalars.first.map { !".-~".unicodeScalars.contains($0) } == true)
            #expect(name.unicodeScalars.last != "." && name.unicodeScalars.last != " ", "\(text.debugDescription)")
            #expect(name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(FileName.sanitised(name) == name, "\(text.debugDescription)")
        }
    }

    @Test(
        arguments: [
            ("file.txt", true), (".hidden", true), ("-rf", true), ("~x", true), ("x. ", true), ("a b", true),
            ("日本", true),
            (String(repeating: "x", count: 255), true),
            (String(repeating: "x", count: 256), false), ("", false), (".", false), ("..", false), ("a/b", false),
            ("dir/", false), ("/", false), ("a\0b", false), ("a\nb", false), (".xfer-1.part", false),
        ])
    func namesGivenByClientsAreAcceptedVerbatimOrRefused(name: String, isAllowed: Bool) throws {
        if isAllowed {
            #expect(try FileName.validateOutput(name) == name)
        } else {
            #expect { try FileName.validateOutput(name) } throws: {
                ($0 as? FileError)?.transferError.reason == .destinationDenied
            }
        }
    }
}

/// Text of 0 … 400 pieces that names stumble over.
func randomText(_ generator: inout SplitMix64) -> String {
    let pieces = [
        ".", ".", "/", "\\", " ", "\0", "\n", "\u{7F}", "\u{202E}", "\u{301}", "a", "B", "7", "é", "日", "👨‍👩‍👧‍👦", "\u{200D}",
        ".tar", ".gz", ".txt", "..", "%", "\"", "'", "\u{FEFF}", "\u{2028}", "\u{600}", "\r\n", "🇩🇪", "-", "~",
        "\u{200B}", "\u{AD}",
        "xxxxxxxxxxxxxxxx",
    ]
    let count =
        Bool.random(using: &generator)
        ? Int.random(in: 0...6, using: &generator) : Int.random(in: 0...400, using: &generator)
    return (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
}
