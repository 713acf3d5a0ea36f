import XferModel

extension FileName {
    /// The name that a server suggests in `Content-Disposition` (RFC 6266), sanitised; nil when it suggests none.
    ///
    /// `filename*` (RFC 8187) takes precedence if it can be decoded; of a repeated parameter the first counts; the type
    /// is ignored. Common errors with a clear meaning are accepted: white space, empty parameters, a missing type, and
    /// the ways to encode a plain `filename` that `decodedPlainValue` supports.
    public static func fromContentDisposition(_ headerValue: String) -> String? {
        var parser = DispositionParser(headerValue)
        var plain: String?
        var extended: String?
        while let parameter = parser.next() {
            switch parameter.name {
            case "filename": plain = plain ?? parameter.value
            case "filename*": extended = extended ?? decodedExtendedValue(parameter.value)
            default: break
            }
        }
        return extended.flatMap(sanitisedIfAny) ?? plain.map(decodedPlainValue).flatMap(sanitisedIfAny)
    }

    /// `charset'language'percent-encoded` (RFC 8187 §3.2.1); nil for anything else.
    private static func decodedExtendedValue(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecodedBytes(Array(parts[2]), strictly: true) else { return nil }
        return decoded(bytes, charset: String(decoding: parts[0], as: UTF8.self))
    }

    /// A plain `filename` with browsers' rules: encoded words (RFC 2047), the form of `filename*` without its star, or
    /// percent-encoded UTF-8. The text unchanged if it is none of these, or cannot be decoded.
    private static func decodedPlainValue(_ value: String) -> String {
        guard value.utf8.allSatisfy({ $0 < 0x80 }) else { return value }
        if value.contains("=?") { return EncodedWords.decoded(value) ?? value }
        if let extended = decodedExtendedValue(value) { return extended }
        guard value.contains("%"), let bytes = percentDecodedBytes(Array(value.utf8), strictly: false) else {
            return value
        }
        return String(validating: bytes, as: UTF8.self) ?? value
    }

    /// Decodes text in one of the charsets that RFC 8187 requires, or its usual misnomer; nil for others.
    fileprivate static func decoded(_ bytes: [UInt8], charset: String) -> String? {
        switch charset.lowercased() {
        case "utf-8", "utf8", "us-ascii": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: nil
        }
    }
}

/// Decodes encoded words, `=?charset?B?…?=` and `=?charset?Q?…?=` (RFC 2047).
private enum EncodedWords {
    /// The text with its encoded words decoded; nil if one of them cannot be.
    static func decoded(_ text: String) -> String? {
        var result = ""
        var rest = text[...]
        // Octets of the words so far: some senders divide a character between two words.
        var pending: (charset: String, octets: [UInt8])?
        while let start = rest.firstRange(of: "=?") {
            let between = rest[..<start.lowerBound]
            let parts = rest[start.upperBound...].split(
                separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[3].hasPrefix("="), let octets = octets(parts[2], encoding: parts[1]) else {
                return nil
            }
            // RFC 2231 §5 allows a language behind the charset.
            let charset = String(parts[0].prefix { $0 != "*" })
            if let word = pending, word.charset == charset, between.allSatisfy(\.isWhitespace) {
                pending = (charset, word.octets + octets)
            } else {
                guard let decoded = finish(pending) else { return nil }
                result += decoded
                // White space between two words is not part of the text (RFC 2047 §6.2).
                if pending == nil || !between.allSatisfy(\.isWhitespace) { result += between }
                pending = (charset, octets)
            }
            rest = parts[3].dropFirst()
        }
        return finish(pending).map { result + $0 + rest }
    }

    private static func finish(_ word: (charset: String, octets: [UInt8])?) -> String? {
        guard let word else { return "" }
        return FileName.decoded(word.octets, charset: word.charset)
    }

    private static func octets(_ text: Substring, encoding: Substring) -> [UInt8]? {
        switch encoding.lowercased() {
        case "b":
            return Base64.decode(String(text))
        case "q":
            // As percent-encoding, with `=` in place of `%`, and `_` for a space.
            let percent = text.utf8.map { byte -> UInt8 in
                switch byte {
                case UInt8(ascii: "="): UInt8(ascii: "%")
                case UInt8(ascii: "_"): UInt8(ascii: " ")
                default: byte
                }
            }
            guard !text.utf8.contains(UInt8(ascii: "%")) else { return nil }
            return FileName.percentDecodedBytes(percent, strictly: true)
        default:
            return nil
        }
    }
}

/// Walks over the parameters of a `Content-Disposition` value: `type *( ";" name "=" ( token / quoted-string ) )`.
private struct DispositionParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ value: String) { bytes = Array(value.utf8) }

    /// The next parameter, its name in lower case; parts without `=`, such as the type, are skipped.
    mutating func next() -> (name: String, value: String)? {
        while index < bytes.count {
            let name = read { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
                index += 1
                continue
            }
            index += 1
            let value = readValue()
            return (Self.trimmed(name).lowercased(), value)
        }
        return nil
    }

    private mutating func readValue() -> String {
        _ = read(while: Self.isSpace)
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
            return Self.trimmed(read { $0 != UInt8(ascii: ";") })
        }
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index, bytes.count)
        let value = Self.unescaped(bytes[start..<index])
        _ = read { $0 != UInt8(ascii: ";") }
        return String(decoding: value, as: UTF8.self)
    }

    /// The content of a quoted string. A backslash quotes the next octet (RFC 9110 §5.6.4). But in a Windows path,
    /// which some servers send unchanged, it quotes only a quotation mark.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let isPath = isWindowsPath(Array(text.prefix(3)))
        var value: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.first else {
                value.append(byte)
                continue
            }
            if isPath, next != UInt8(ascii: "\"") { value.append(byte) }
            value.append(next)
            rest = rest.dropFirst()
        }
        return value
    }

    /// True if a text begins with a drive (`C:\`) or a server (`\\server`).
    private static func isWindowsPath(_ head: [UInt8]) -> Bool {
        guard head.count == 3 else { return false }
        let backslash = UInt8(ascii: "\\")
        if head[0].isASCIILetter, head[1] == UInt8(ascii: ":"), head[2] == backslash { return true }
        return head[0] == backslash && head[1] == backslash && head[2] != backslash
    }

    private mutating func read(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, condition(bytes[index]) { index += 1 }
        return bytes[start..<index]
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }
        return end.map { String(decoding: start[...$0], as: UTF8.self) } ?? ""
    }
}
