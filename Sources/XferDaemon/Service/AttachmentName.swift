/// Writes `Content-Disposition` of a file that is to be saved (RFC 6266, RFC 8187).
enum AttachmentName {
    /// The field's value. Names are at most 255 bytes long, as files' names are.
    static func field(_ name: String?) -> String {
        guard let name, !name.isEmpty else { return "attachment" }
        let plain = asciiName(name)
        let field = "attachment; filename=\"\(plain)\""
        return plain == name ? field : field + "; filename*=UTF-8''" + extendedValue(name)
    }

    /// The name for clients without RFC 8187. Browsers decode `%41` in it, and do not agree about escapes (RFC 6266
    /// appendix D), so both are left out.
    private static func asciiName(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    let isSafe = (0x20...0x7E).contains(scalar.value) && !#"\"\%/"#.unicodeScalars.contains(scalar)
                    return isSafe ? scalar : "_"
                }))
    }

    /// The characters, in addition to letters and digits, that need no encoding: `attr-char` of RFC 8187 §3.2.1.
    private static let marks = Set("!#$&+-.^_`|~".utf8)

    private static func extendedValue(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            let character = UnicodeScalar(byte)
            let isLetterOrDigit = character.isASCII && (character.properties.isAlphabetic || (48...57).contains(byte))
            if isLetterOrDigit || marks.contains(byte) {
                text.unicodeScalars.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }
}
