import FoundationEssentials
import XferModel

/// JSON kept in text columns: small values that are neither searched nor sorted by.
enum JSONText {
    // Configured once and never again; encoding and decoding keep their state to themselves.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// The same text for the same value, always.
    static func encode(_ value: some Encodable) throws(StoreError) -> String {
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // Only a number that JSON cannot hold gets here (NaN, infinity).
            throw .sqlite(code: 20, message: "not storable: \(error)")
        }
    }

    /// Nil when the text is not that type's JSON.
    static func decode<T: Decodable>(_ type: T.Type, from text: String) -> T? {
        try? decoder.decode(type, from: FoundationEssentials.Data(text.utf8))
    }

    /// Header fields as `[["Name","value"],…]`, written by hand because every response's are stored; nil for none.
    static func encode(headers: [HeaderField]) -> String? {
        guard !headers.isEmpty else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(headers.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 })
        for (index, field) in headers.enumerated() {
            text.append(contentsOf: index == 0 ? "[[".utf8 : ",[".utf8)
            append(field.name, to: &text)
            text.append(UInt8(ascii: ","))
            append(field.value, to: &text)
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil when the text is none of `encode(headers:)`.
    static func decodeHeaders(_ text: String?) -> [HeaderField]? {
        guard let text else { return [] }
        if let fields = plainHeaders(text) { return fields }
        guard let pairs = decode([[String]].self, from: text), pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        return pairs.map { HeaderField(name: $0[0], value: $0[1]) }
    }

    /// Header fields from a text without escapes, as nearly all are; nil for any other.
    private static func plainHeaders(_ text: String) -> [HeaderField]? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count > 1, !bytes.contains(UInt8(ascii: "\\")) else { return nil }
            var position = 1
            func take(_ expected: StaticString) -> Bool {
                let expected = UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount)
                guard bytes[position...].starts(with: expected) else { return false }
                position += expected.count
                return true
            }
            func string() -> String? {
                guard take("\""), let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
                defer { position = end + 1 }
                return String(decoding: UnsafeBufferPointer(rebasing: bytes[position..<end]), as: UTF8.self)
            }
            var fields: [HeaderField] = []
            repeat {
                guard take("["), let name = string(), take(","), let value = string(), take("]") else { return nil }
                fields.append(HeaderField(name: name, value: value))
            } while take(",")
            return take("]") && position == bytes.count && bytes[0] == UInt8(ascii: "[") ? fields : nil
        }
    }

    /// As `append(_:to:)`, to bytes.
    static func append(_ string: String, to text: inout [UInt8]) {
        var string = string
        let isPlain = string.withUTF8 { bytes in
            for byte in bytes where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                return false
            }
            text.append(UInt8(ascii: "\""))
            text.append(contentsOf: bytes)
            text.append(UInt8(ascii: "\""))
            return true
        }
        guard !isPlain else { return }
        var escaped = ""
        append(string, to: &escaped)
        text.append(contentsOf: escaped.utf8)
    }

    /// An array of strings, for `json_each`.
    static func array(_ strings: some Sequence<String>) -> String {
        var text = "["
        for string in strings {
            if text.utf8.count > 1 { text += "," }
            append(string, to: &text)
        }
        return text + "]"
    }

    /// An array of integers, for `json_each`.
    static func array(_ integers: some Sequence<Int64>) -> String {
        "[" + integers.map(String.init).joined(separator: ",") + "]"
    }

    /// RFC 8259 §7: quotes, backslashes and control characters are escaped.
    static func append(_ string: String, to text: inout String) {
        let needsEscape = string.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
        guard needsEscape else {
            text += "\""
            text += string
            text += "\""
            return
        }
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
