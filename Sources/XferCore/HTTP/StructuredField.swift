import RawStructuredFieldValues
public import XferModel

/// Structured field values as far as they are used here (RFC 9651): Items and Dictionaries of bare items.
///
/// Parameters are checked and dropped. An inner list makes a Dictionary member of another type. A malformed field is
/// ignored as a whole (§4.2), as is one longer than `maxLength`.
public enum StructuredField {
    /// A bare item (RFC 9651 §3.3); the types this service does not use share one case.
    public enum Value: Hashable, Sendable {
        case integer(Int64)
        case boolean(Bool)
        case bytes([UInt8])
        /// A value of another type.
        case other
    }

    /// The outcome of reading a Dictionary.
    public enum Dictionary: Hashable, Sendable {
        /// No field of this name, or none with a value: an empty Dictionary is not sent (§3.2).
        case absent
        /// Members by key. The last value of a repeated key counts.
        case members([String: Value])
        /// More than `maxLength` bytes or `maxSeparators` separators.
        case tooLong
        case malformed
    }

    /// The longest text in bytes. The byte sequence of 16,384 octets that each parser must read (§3.3.5) fits in it.
    public static let maxLength = 24_576
    /// The highest number of commas and semicolons: the parser compares each key with all before it. It allows the
    /// 1,024 members, with a parameter each, that each parser must read (§3.2).
    public static let maxSeparators = 2_560

    /// The Item of this name; nil when it is absent, given more than once, or malformed.
    public static func item(_ name: String, in fields: some Sequence<HeaderField>) -> Value? {
        guard let text = joinedLines(of: name, in: fields), isBounded(text) else { return nil }
        var parser = StructuredFieldValueParser(text)
        guard let item = try? parser.parseItemFieldValue() else { return nil }
        return Value(item)
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

    /// The Dictionary of this name; nil when it is absent, malformed or too long.
    public static func dictionary(_ name: String, in fields: some Sequence<HeaderField>) -> [String: Value]? {
        guard case .members(let members) = parseDictionary(name, in: fields) else { return nil }
        return members
    }

    /// The Dictionary of this name, or why there is none.
    public static func parseDictionary(_ name: String, in fields: some Sequence<HeaderField>) -> Dictionary {
        guard let text = joinedLines(of: name, in: fields) else { return .absent }
        guard isBounded(text) else { return .tooLong }
        var parser = StructuredFieldValueParser(text)
        guard let members = try? parser.parseDictionaryFieldValue() else { return .malformed }
        var found: [String: Value] = [:]
        for (key, member) in members {
            guard let value = Value(member) else { return .malformed }
            found[key] = value
        }
        return .members(found)
    }

    private static func isBounded(_ text: [UInt8]) -> Bool {
        text.count <= maxLength
            && text.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") } <= maxSeparators
    }

    /// All lines of the field as one (RFC 9110 §5.3); nil if there is none, or if all are empty.
    private static func joinedLines(of name: String, in fields: some Sequence<HeaderField>) -> [UInt8]? {
        let lines = fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
        let text = Array(lines.joined(separator: ", ").utf8)
        return text.isEmpty ? nil : text
    }
}

extension StructuredField.Value {
    /// Creates the value, or nil if a byte sequence in it, or in its parameters, is not base64 (§4.2.7): the parser
    /// leaves that to its user.
    fileprivate init?(_ member: ItemOrInnerList) {
        switch member {
        case .item(let item): self.init(item)
        case .innerList(let list):
            guard list.bareInnerList.allSatisfy({ Self($0) != nil }), Self.areWhole(list.rfc9651Parameters) else {
                return nil
            }
            self = .other
        }
    }

    fileprivate init?(_ item: Item) {
        guard Self.areWhole(item.rfc9651Parameters) else { return nil }
        self.init(item.rfc9651BareItem)
    }

    private init?(_ item: RFC9651BareItem) {
        switch item {
        case .integer(let value): self = .integer(value)
        case .bool(let value): self = .boolean(value)
        case .undecodedByteSequence(let text):
            // Padding that is absent is supplied.
            let missing = text.utf8.contains(UInt8(ascii: "=")) ? 0 : (4 - text.utf8.count % 4) % 4
            guard let bytes = Base64.decode(text + String(repeating: "=", count: missing)) else { return nil }
            self = .bytes(bytes)
        default: self = .other
        }
    }

    private static func areWhole(_ parameters: OrderedMap<String, RFC9651BareItem>) -> Bool {
        parameters.allSatisfy { Self($0.1) != nil }
    }
}
