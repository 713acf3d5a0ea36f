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
        var text = "["
        for (index, field) in headers.enumerated() {
            text += index == 0 ? "[" : ",["
            append(field.name, to: &text)
            text += ","
            append(field.value, to: &text)
            text += "]"
        }
        return text + "]"
    }

    static func decodeHeaders(_ text: String?) -> [HeaderField]? {
        guard let text else { return [] }
        guard let pairs = decode([[String]].self, from: text), pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        return pairs.map { HeaderField(name: $0[0], value: $0[1]) }
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
