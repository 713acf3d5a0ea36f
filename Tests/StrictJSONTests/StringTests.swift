import StrictJSON
import Testing

@Suite struct StringTests {
    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\uD834\uDD1E""#, "𝄞"),
        (#""\u0000""#, "\0"), (#""é€𝄞""#, "é€𝄞"), (#""abcdefgh\nabcdefgh""#, "abcdefgh\nabcdefgh"),
        (#""\udbff\udfff""#, "\u{10FFFF}"), (#""\u2028""#, "\u{2028}"),
    ])
    func escapesInStringsAreDecoded(text: String, expected: String) throws {
        #expect(try JSONValue(parsing: text) == .string(expected))
    }

    @Test(arguments: [
        #""\uD834""#, #""\uDD1E""#, #""\uD834\uD834""#, #""\uD834x""#, #""\uD834\n""#, #""\uDD1E\uD834""#, #""\u12G4""#,
        #""\x""#,
        #""\U0041""#, #""\u+123""#, "\"a\nb\"", "\"a\u{1F}\"", "\"\0\"", "\"12345678\t\"",
    ])
    func invalidStringsAreRefused(text: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == .invalidString)
    }

    /// Table 3-7 of the Unicode Standard: overlong forms, surrogates, beyond U+10FFFF, cut sequences, stray bytes.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0xC3],
            [0xE2, 0x82],
            [0xF0, 0x9D, 0x84],
        ] as [[UInt8]])
    func invalidUTF8IsRefusedWithItsOffset(bytes: [UInt8]) {
        for prefix in ["", "é", #"\n"#, "12345678"] {
            let text = Array("[\"\(prefix)".utf8) + bytes + Array("\"]".utf8)
            let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
            #expect(error?.reason == .invalidUTF8)
            if prefix != #"\n"# { #expect(error?.offset == 2 + prefix.utf8.count) }
        }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
    }

    @Test func theEndOfAStringIsFoundAtEveryAlignment() throws {
        for length in 0...40 {
            let text = String(repeating: "x", count: length)
            #expect(try JSONValue(parsing: "\"\(text)\"") == .string(text))
            #expect(try JSONValue(parsing: "\"\(text)\\n\(text)\"") == .string("\(text)\n\(text)"))
            #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "\"\(text)\u{1}\"") }
        }
    }

    @Test func onlyControlCharactersQuotesAndBackslashesAreWrittenEscaped() {
        #expect(
            JSONValue.string("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}/é𝄞\u{7f}").text == #""a\"\\\n\r\t\b\f\u0001\u001f/é𝄞"#
                + "\u{7f}\"")
    }

    @Test func everyWrittenCharacterParsesToItself() throws {
        for number in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(number), number < 0x3000 || number % 97 == 0 else { continue }
            let value = JSONValue.string(String(Character(scalar)))
            #expect(try JSONValue(parsing: value.text) == value)
        }
    }
}
