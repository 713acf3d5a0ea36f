/// The value of a `Strict-Transport-Security` field (RFC 6797 §6.1).
public struct StrictTransportField: Hashable, Sendable {
    /// Seconds; 0 revokes an earlier demand. More than 63 bits saturate.
    public var maxAge: Int64
    public var includesSubdomains: Bool

    public init(maxAge: Int64, includesSubdomains: Bool = false) {
        self.maxAge = maxAge
        self.includesSubdomains = includesSubdomains
    }

    /// Parses the field. The result is nil for a value that does not conform to the grammar, has a directive twice or
    /// lacks `max-age`: the whole field is ignored then. Unknown directives are skipped.
    public init?(_ text: String) {
        var reader = DirectiveReader(text)
        guard let directives = reader.all() else { return nil }
        guard let age = directives["max-age"], let age, let seconds = Self.seconds(age) else { return nil }
        var includesSubdomains = false
        if let value = directives["includesubdomains"] {
            guard value == nil else { return nil }
            includesSubdomains = true
        }
        self.init(maxAge: seconds, includesSubdomains: includesSubdomains)
    }

    /// Parses the seconds: `1*DIGIT`.
    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text, radix: 10) ?? .max
    }
}

/// Reads `[ directive ] *( ";" [ directive ] )`.
private struct DirectiveReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The values by names in lower case; nil for a directive without a value. The result is nil if the text has
    /// another form.
    mutating func all() -> [String: String?]? {
        var found: [String: String?] = [:]
        while true {
            skipWhiteSpace()
            if let name = token() {
                skipWhiteSpace()
                var value: String?
                if peek == UInt8(ascii: "=") {
                    index += 1
                    skipWhiteSpace()
                    guard let given = peek == UInt8(ascii: "\"") ? quotedString() : token() else { return nil }
                    value = given
                    skipWhiteSpace()
                }
                guard found.updateValue(value, forKey: name.lowercased()) == nil else { return nil }
            }
            guard let next = peek else { return found }
            guard next == UInt8(ascii: ";") else { return nil }
            index += 1
        }
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipWhiteSpace() {
        while let next = peek, next == 0x20 || next == 0x09 { index += 1 }
    }

    /// The token that begins here, or nil.
    private mutating func token() -> String? {
        let start = index
        while let next = peek, Self.isTokenCharacter(next) { index += 1 }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// The content of a quoted string; nil if it does not end.
    private mutating func quotedString() -> String? {
        index += 1
        var content: [UInt8] = []
        while let next = peek {
            index += 1
            switch next {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = peek else { return nil }
                content.append(escaped)
                index += 1
            default: content.append(next)
            }
        }
        return nil
    }

    /// True for a character of a token (RFC 9110 §5.6.2).
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
