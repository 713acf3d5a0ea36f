import StrictJSON
import Testing

/// RFC 8259 §8.1 for receivers: byte order marks, UTF-16 and UTF-32.
@Suite struct EncodingTests {
    enum Form: CaseIterable { case utf8, utf16Big, utf16Little, utf32Big, utf32Little }

    private static func bytes(_ text: String, _ form: Form, mark: Bool) -> [UInt8] {
        let text = (mark ? "\u{feff}" : "") + text
        switch form {
        case .utf8: return Array(text.utf8)
        case .utf16Big:
            return text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        case .utf16Little:
            return text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        case .utf32Big:
            return text.unicodeScalars.flatMap { scalar in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
            }
        case .utf32Little:
            return text.unicodeScalars.flatMap { scalar in
                [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
            }
        }
    }

    @Test(
        arguments: Form.allCases,
        [
            "{\"a\":[1,\"é日𝄞\"]}", "0", "\"\"", "\"日\"", " [ ] ", "\n\t{}", "-1.5e3", "\"\u{fffd}\"",
        ])
    func textInAnyUnicodeEncodingIsReadWithAndWithoutAMark(form: Form, text: String) {
        for mark in [false, true] {
            #expect(JSONEncodings.utf8(of: Self.bytes(text, form, mark: mark)) == Array(text.utf8), "\(form) \(mark)")
        }
    }

    @Test(
        arguments: [
            [0xff, 0xfe, 0x22], [0xfe, 0xff, 0x00], [0xfe, 0xff, 0xd8, 0x00], [0x00, 0x22, 0xdc, 0x00],
            [0x00, 0x00, 0xfe, 0xff, 0x00, 0x11, 0x00, 0x00], [0xff, 0xfe, 0x00, 0x00, 0x00, 0xd8, 0x00, 0x00],
            [0x00, 0x00, 0x00, 0x30, 0x00],
        ] as [[UInt8]])
    func halvesOfCharactersAndSurrogatesAloneAreNoText(bytes: [UInt8]) { #expect(JSONEncodings.utf8(of: bytes) == nil) }

    /// What is no UTF-16 or UTF-32 is left to the parser.
    @Test(
        arguments: [[], [0x7b], [0xff], [0x00], [0x22, 0xff, 0x22], [0x00, 0x00], [0x00, 0x00, 0x00]] as [[UInt8]])
    func otherBytesAreUnchanged(bytes: [UInt8]) { #expect(JSONEncodings.utf8(of: bytes) == bytes) }
}
