import FoundationEssentials
import StrictJSON
import XferModel

/// JSON that is stored in text columns: small values that are not used for searching or sorting.
enum JSONText {
    // Configured once and never changed; encoding and decoding share no state.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// Encodes a value. Deterministic: equal values have equal texts.
    static func encode(_ value: some Encodable) throws(StoreError) -> String {
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // Reached only for a number that JSON cannot hold (NaN, infinity).
            throw .sqlite(code: 20, message: "not storable: \(error)")
        }
    }

    /// Decodes the text, or returns nil when it is not that type's JSON.
    static func decode<T: Decodable>(_ type: T.Type, from text: String) -> T? {
        try? decoder.decode(type, from: FoundationEssentials.Data(text.utf8))
    }

    /// Encodes header fields as `[["Name","value"],…]`, written without a codec, because it is done for every response;
    /// nil for none.
    static func encode(headers: [HeaderField]) -> String? {
        guard !headers.isEmpty else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(headers.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 })
        for (index, field) in headers.enumerated() {
            text.append(contentsOf: index == 0 ? "[[".utf8 : ",[".utf8)
            text.appendJSON(field.name)
            text.append(UInt8(ascii: ","))
            text.appendJSON(field.value)
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes the fields, or returns nil when the text is not one of `encode(headers:)`.
    static func decodeHeaders(_ text: String?) -> [HeaderField]? {
        guard let text else { return [] }
        if let fields = plainHeaders(text) { return fields }
        guard let pairs = decode([[String]].self, from: text), pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        return pairs.map { HeaderField(name: $0[0], value: $0[1]) }
    }

    /// Decodes header fields from a text whose only escapes are of quotes and backslashes, as of nearly all; nil for
    /// any other.
    private static func plainHeaders(_ text: String) -> [HeaderField]? {
        var text = text
        return text.withUTF8 { bytes in
            var position = 0
            func skip(_ expected: Character) -> Bool {
                guard position < bytes.count, bytes[position] == expected.asciiValue else { return false }
                position += 1
                return true
            }
            func string() -> String? {
                guard skip("\"") else { return nil }
                let start = position
                var hasEscapes = false
                while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
                    guard bytes[position] == UInt8(ascii: "\\") else {
                        position += 1
                        continue
                    }
                    hasEscapes = true
                    guard position + 1 < bytes.count, standsForItself(bytes[position + 1]) else { return nil }
                    position += 2
                }
                let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
                guard skip("\"") else { return nil }
                return hasEscapes
                    ? String(decoding: unescaped(content), as: UTF8.self) : String(decoding: content, as: UTF8.self)
            }
            var fields: [HeaderField] = []
            guard skip("[") else { return nil }
            repeat {
                guard skip("["), let name = string(), skip(","), let value = string(), skip("]") else { return nil }
                fields.append(HeaderField(name: name, value: value))
            } while skip(",")
            return skip("]") && position == bytes.count ? fields : nil
        }
    }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The text without its escapes' backslashes.
    private static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { plain.append(byte) }
        }
        return plain
    }

    /// An array of strings, for `json_each`.
    static func array(_ strings: some Sequence<String>) -> String {
        var text = [UInt8(ascii: "[")]
        for string in strings {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.appendJSON(string)
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }

    /// An array of integers, for `json_each`.
    static func array(_ integers: some Sequence<Int64>) -> String {
        var text = [UInt8(ascii: "[")]
        for integer in integers {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: String(integer).utf8)
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }
}
