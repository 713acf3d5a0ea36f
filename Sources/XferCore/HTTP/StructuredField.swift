import RawStructuredFieldValues
public import XferModel

/// Structured field values as far as they are used here (RFC 9651): Items and Dictionaries of bare items.
///
/// Parameters are checked and dropped. An inner list makes a Dictionary member of unknown type. A malformed field is
/// ignored as a whole (§4.2), as is one longer than `maxLength`.
public enum StructuredField {
    /// A bare item (RFC 9651 §3.3); the types this service does not use share one case.
    public enum Value: Hashable, Sendable {
        case integer(Int64)
        case boolean(Bool)
        /// Well formed and of another type.
        case other
    }

    /// Bytes. The parser compares each key of a Dictionary with all before it.
    public static let maxLength = 4096

    /// The Item of this name; nil when it is absent, given more than once, or malformed.
    public static func item(_ name: String, in fields: some Sequence<HeaderField>) -> Value? {
        guard var parser = parser(of: name, in: fields) else { return nil }
        return (try? parser.parseItemFieldValue()).map { Value($0.rfc9651BareItem) }
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
        guard var parser = parser(of: name, in: fields), let members = try? parser.parseDictionaryFieldValue() else {
            return nil
        }
        return members.reduce(into: [:]) { found, member in
            switch member.1 {
            case .item(let item): found[member.0] = Value(item.rfc9651BareItem)
            case .innerList: found[member.0] = .other
            }
        }
    }

    /// Of all lines of the field as one (RFC 9110 §5.3).
    private static func parser(
        of name: String, in fields: some Sequence<HeaderField>
    ) -> StructuredFieldValueParser<[UInt8]>? {
        let lines = fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
        let text = Array(lines.joined(separator: ", ").utf8)
        guard !text.isEmpty, text.count <= maxLength else { return nil }
        return StructuredFieldValueParser(text)
    }
}

extension StructuredField.Value {
    fileprivate init(_ item: RFC9651BareItem) {
        switch item {
        case .integer(let value): self = .integer(value)
        case .bool(let value): self = .boolean(value)
        default: self = .other
        }
    }
}
