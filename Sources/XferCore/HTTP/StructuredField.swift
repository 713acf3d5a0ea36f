public import XferModel

/// Structured field values as far as they are used here (RFC 9651): Items and Dictionaries of bare items, parsed
/// strictly.
///
/// Parameters are checked and dropped. An inner list makes a Dictionary member of unknown type. A malformed field is
/// ignored as a whole (§4.2).
public enum StructuredField {
    /// A bare item (RFC 9651 §3.3); the types this service does not use share one case.
    public enum Value: Hashable, Sendable {
        case integer(Int64)
        case boolean(Bool)
        /// Well formed and of another type.
        case other
    }

    /// The Item of this name; nil when it is absent, given more than once, or malformed.
    public static func item(_ name: String, in fields: some Sequence<HeaderField>) -> Value? {
        var parser = StructuredFieldParser(joined(name, in: fields))
        return parser.wholeItem()
    }

    /// The Integer of this name; nil as for `item`, and when the item is of another type.
    public static func integer(_ name: String, in fields: some Sequence<HeaderField>) -> Int64? {
        guard case .integer(let value) = item(name, in: fields) else { return nil }
        return value
    }

    /// The Boolean of this name; nil as for `item`, and when the item is of another type.
    public static func boolean(_ name: String, in fields: some Sequence<HeaderField>) -> Bool? {
        guard case .boolean(let value) = item(name, in: fields) else { return nil }
        return value
    }

    /// The Dictionary of this name; nil when it is absent or malformed. Of a key given twice the last value counts.
    public static func dictionary(_ name: String, in fields: some Sequence<HeaderField>) -> [String: Value]? {
        let text = joined(name, in: fields)
        guard !text.isEmpty else { return nil }
        var parser = StructuredFieldParser(text)
        return parser.wholeDictionary()
    }

    /// All lines of the field as one (RFC 9110 §5.3).
    private static func joined(_ name: String, in fields: some Sequence<HeaderField>) -> String {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value).joined(separator: ", ")
    }
}

/// The parsing algorithms of RFC 9651 §4.2.
struct StructuredFieldParser {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    mutating func wholeItem() -> StructuredField.Value? {
        skipSpaces()
        guard let value = item() else { return nil }
        skipSpaces()
        return rest.isEmpty ? value : nil
    }

    mutating func wholeDictionary() -> [String: StructuredField.Value]? {
        var members: [String: StructuredField.Value] = [:]
        skipSpaces()
        while !rest.isEmpty {
            guard let key = key() else { return nil }
            if skip("=") {
                guard let value = peek("(") ? innerList() : item() else { return nil }
                members[key] = value
            } else {
                guard parameters() else { return nil }
                members[key] = .boolean(true)
            }
            skipWhitespace()
            if rest.isEmpty { return members }
            guard skip(",") else { return nil }
            skipWhitespace()
            // A comma at the end.
            if rest.isEmpty { return nil }
        }
        return members
    }

    // MARK: Items

    private mutating func item() -> StructuredField.Value? {
        guard let value = bareItem(), parameters() else { return nil }
        return value
    }

    private mutating func innerList() -> StructuredField.Value? {
        guard skip("(") else { return nil }
        while true {
            skipSpaces()
            if skip(")") { return parameters() ? .other : nil }
            guard item() != nil, peek(" ") || peek(")") else { return nil }
        }
    }

    private mutating func parameters() -> Bool {
        while skip(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if skip("="), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func key() -> String? {
        guard let first = rest.first, first.isLowercase || first == UInt8(ascii: "*") else { return nil }
        let found = rest.prefix { $0.isLowercase || $0.isDigit || "_-.*".utf8.contains($0) }
        rest = rest[found.endIndex...]
        return String(decoding: found, as: UTF8.self)
    }

    private mutating func bareItem() -> StructuredField.Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "?"):
            rest.removeFirst()
            if skip("1") { return .boolean(true) }
            return skip("0") ? .boolean(false) : nil
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "\""): return string() ? .other : nil
        case UInt8(ascii: ":"): return byteSequence() ? .other : nil
        case UInt8(ascii: "@"):
            rest.removeFirst()
            guard case .integer = number() else { return nil }
            return .other
        case UInt8(ascii: "%"):
            rest.removeFirst()
            return string() ? .other : nil
        case _ where first.isLetter || first == UInt8(ascii: "*"):
            rest = rest.drop { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
            return .other
        default: return nil
        }
    }

    /// At most 15 digits; a decimal at most 12 before its point and 3 after it.
    private mutating func number() -> StructuredField.Value? {
        let sign: Int64 = skip("-") ? -1 : 1
        let digits = rest.prefix(while: \.isDigit)
        rest = rest[digits.endIndex...]
        if skip(".") {
            let fraction = rest.prefix(while: \.isDigit)
            rest = rest[fraction.endIndex...]
            return (1...12).contains(digits.count) && (1...3).contains(fraction.count) ? .other : nil
        }
        guard (1...15).contains(digits.count), let value = Int64(String(decoding: digits, as: UTF8.self), radix: 10)
        else {
            return nil
        }
        return .integer(sign * value)
    }

    private mutating func string() -> Bool {
        guard skip("\"") else { return false }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), "\"\\".utf8.contains(escaped) else { return false }
            case 0x20...0x7e: continue
            default: return false
            }
        }
        return false
    }

    private mutating func byteSequence() -> Bool {
        rest.removeFirst()
        rest = rest.drop { $0.isLetter || $0.isDigit || "+/=".utf8.contains($0) }
        return skip(":")
    }

    // MARK: Characters

    private func peek(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek(character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == UInt8(ascii: " ") } }

    private mutating func skipWhitespace() { rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
}

extension UInt8 {
    fileprivate var isLowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
