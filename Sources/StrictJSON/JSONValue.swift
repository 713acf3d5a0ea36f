/// One JSON value (RFC 8259). Integers stay integers, objects keep the order of their members, and keys are unique.
///
/// Strings are equal if their bytes are equal: Swift's `==` would treat "é" and "e\u{301}" as equal. An integer never
/// equals a number. The order of an object's members does not matter for equality.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits a signed 64-bit integer.
    case integer(Int64)
    /// Any other number: with a fraction or an exponent, beyond 64 bits, or `-0`. Its double is always finite when
    /// parsed.
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Hashable {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .array(let values): hasher.combine(values)
        case .object(let object): hasher.combine(object)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. The keys must be distinct; this is not checked.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object.append(newKey: key, value) }
        self = .object(object)
    }
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    /// The value of the member `key`; nil when this value is not an object or has no such member.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[key]
    }

    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
    public var isNull: Bool { if case .null = self { true } else { false } }
}

extension JSONValue {
    /// A copy without those object members whose value is null, at any depth. Nulls in arrays stay.
    ///
    /// Corresponds to AFJSONResponseSerializer's `removesKeysWithNullValues`. A member is then either present with a
    /// value or absent, never null.
    public var strippingNulls: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string:
            return self
        case .array(let elements):
            return .array(elements.map(\.strippingNulls))
        case .object(let object):
            var stripped = JSONObject()
            for (key, value) in object.members where value != .null {
                stripped.append(newKey: key, value.strippingNulls)
            }
            return .object(stripped)
        }
    }
}
