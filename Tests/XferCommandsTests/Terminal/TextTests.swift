import StrictJSON
import Testing

@testable import XferCommands

@Suite struct TextWidthTests {
    @Test(arguments: [
        ("plain.iso", 9), ("", 0), ("日本語", 6), ("e\u{301}te\u{301}", 3), ("👍🏽", 2), ("❤️", 2), ("ﬀ", 1), ("한글.txt", 8),
        ("a\u{200d}b", 2),
    ])
    func textWidthIsCountedInTerminalColumns(text: String, columns: Int) {
        #expect(TextWidth.columns(of: text) == columns)
    }

    @Test func textIsCutInTheMiddleSoThatTheExtensionStays() {
        #expect(TextWidth.fitted("a-very-long-name.tar.gz", to: 11, keepingEnd: true) == "a-ver…ar.gz")
        #expect(TextWidth.fitted("a-very-long-name.tar.gz", to: 8) == "a-very-…")
        #expect(TextWidth.fitted("short", to: 5) == "short")
    }

    @Test(arguments: 0...20)
    func cutTextNeverExceedsItsWidthEvenWithWideCharacters(width: Int) {
        let text = "日本語のファイル名.tar.gz"
        #expect(TextWidth.columns(of: TextWidth.fitted(text, to: width, keepingEnd: true)) <= width)
        #expect(TextWidth.columns(of: TextWidth.fitted(text, to: width)) <= width)
    }
}

@Suite struct SafeTextTests {
    @Test func theControlsInJSONAreEscapedAndTheValueIsTheSame() throws {
        let value: JSONValue = ["a\u{9b}b": "\u{202e}gpj.exe\u{7f}\u{feff}\u{e0041}é\n\u{1b}", "n": 1]
        let text = SafeText.escaped(json: value.text)
        #expect(text.unicodeScalars.allSatisfy { $0.value == 0xe9 || (0x20..<0x7f).contains($0.value) }, "\(text)")
        #expect(text.contains("\\u009b") && text.contains("\\u202e") && text.contains("\\udb40\\udc41"))
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
        #expect(SafeText.escaped(json: "{\n  \"a\": 1\n}") == "{\n  \"a\": 1\n}")
    }

    @Test func bytesWithC1ControlsAreNoTextForATerminal() {
        #expect(!PlainBytes.areText(Array("a\u{9b}31mb".utf8)) && PlainBytes.areText(Array("aéb\n".utf8)))
    }

    @Test func escapeSequencesLoseTheirEffect() {
        #expect(SafeText.sanitised("\u{1b}]0;owned\u{7}x\r\n") == "␛]0;owned␇x␍␊")
    }

    @Test func c1ControlsAndDirectionOverridesAreReplaced() {
        #expect(SafeText.sanitised("a\u{9b}31m\u{202e}gpj.exe") == "a\u{fffd}31m\u{fffd}gpj.exe")
    }

    @Test func printableTextOfAnyScriptIsUnchanged() {
        let text = "Grüße 日本語 👍🏽 a~b.tar.gz"
        #expect(SafeText.sanitised(text) == text)
    }
}
