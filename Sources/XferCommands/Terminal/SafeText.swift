/// Makes text from servers, files or other users harmless to a terminal.
///
/// A file name may contain escape sequences that retitle the window, or bidirectional controls that make `gpj.exe` look
/// like `exe.jpg`; neither may reach the screen.
enum SafeText {
    /// The text with control characters shown as Unicode's control pictures and other invisible direction and
    /// line controls as U+FFFD. Printable text is unchanged.
    static func sanitised(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return String(text) }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isUnsafe(scalar) ? picture(of: scalar) : scalar)
        }
        return String(result)
    }

    /// Writes the same characters of JSON text as escapes (RFC 8259 §7), so that its value is unchanged. Line feeds
    /// between tokens stay.
    static func escaped(json: String) -> String {
        func isEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar != "\n" && isUnsafe(scalar) }
        guard json.unicodeScalars.contains(where: isEscaped) else { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            guard isEscaped(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: true
        // Marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9), line and paragraph
        // separators, byte order mark, tag characters.
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x206f, 0xfeff, 0xe0000...0xe007f: true
        default: false
        }
    }

    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        let code =
            switch scalar.value {
            case 0..<0x20: 0x2400 + scalar.value
            case 0x7f: UInt32(0x2421)
            default: UInt32(0xfffd)
            }
        return Unicode.Scalar(code) ?? "?"
    }
}
