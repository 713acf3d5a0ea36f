extension FileName {
    /// The name a server suggests in `Content-Disposition` (RFC 6266), sanitised; nil when it suggests none.
    ///
    /// `filename*` (RFC 8187) wins when it can be decoded; of a repeated parameter the first counts; the type is
    /// ignored. Common errors with a clear meaning are accepted: white space, empty parameters, a missing type.
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
        return extended.flatMap(sanitisedIfAny) ?? plain.flatMap(sanitisedIfAny)
    }

    /// `charset'language'percent-encoded` (RFC 8187 §3.2.1) in UTF-8 or ISO-8859-1; nil for anything else.
    private static func decodedExtendedValue(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecodedBytes(Array(parts[2]), strictly: true) else { return nil }
        return switch String(decoding: parts[0], as: UTF8.self).lowercased() {
        case "utf-8": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: nil
        }
    }
}

/// Walks over the parameters of a `Content-Disposition` value: `type *( ";" name "=" ( token / quoted-string ) )`.
private struct DispositionParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ value: String) { bytes = Array(value.utf8) }

    /// The next parameter, its name in lower case; what has no `=`, such as the type, is passed over.
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
        var value: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
            value.append(bytes[index])
            index += 1
        }
        _ = read { $0 != UInt8(ascii: ";") }
        return String(decoding: value, as: UTF8.self)
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
