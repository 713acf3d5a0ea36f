public import StrictJSON
public import XferModel

/// Header fields as a JSON object: a name's value is a string, or an array of strings where a field is repeated.
public struct HeaderList: WireValue, Hashable {
    public var fields: [HeaderField]

    public init(_ fields: [HeaderField]) { self.fields = fields }

    /// The limits of a client's list: the number of fields, and the longest name and value in bytes.
    static let maxCount = 100
    static let maxNameLength = 256
    static let maxValueLength = 8192

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else {
            throw .wrongType(expected: "an object of header names and values")
        }
        fields = []
        for (name, value) in object.members {
            do { try append(name, value, mode) } catch { throw error.under(name) }
        }
        guard mode == .lenient || fields.count <= Self.maxCount else {
            throw WireError(.outOfRange, expected: "at most \(Self.maxCount) header fields")
        }
    }

    private mutating func append(_ name: String, _ value: JSONValue, _ mode: WireMode) throws(WireError) {
        if mode == .strict { try Self.checkName(name) }
        switch value {
        case .string(let text): try append(name, text, mode)
        case .array(let values):
            for (index, value) in values.enumerated() {
                guard case .string(let text) = value else { throw .wrongType(expected: "a string").under(index) }
                try append(name, text, mode)
            }
        default: throw .wrongType(expected: "a string or an array of strings")
        }
    }

    private mutating func append(_ name: String, _ text: String, _ mode: WireMode) throws(WireError) {
        if mode == .strict {
            guard text.utf8.count <= Self.maxValueLength else {
                throw WireError(.outOfRange, expected: "at most \(Self.maxValueLength) bytes")
            }
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw WireError(.invalidValue, expected: "text without CR, LF, NUL and other control characters")
            }
        }
        fields.append(HeaderField(name: name, value: text))
    }

    private static func checkName(_ name: String) throws(WireError) {
        guard !name.isEmpty, name.utf8.count <= maxNameLength, name.utf8.allSatisfy(isTokenCharacter) else {
            throw WireError(.invalidValue, expected: "a header name (an RFC 9110 token)")
        }
        guard !reserved.contains(where: name.equalsIgnoringASCIICase) else {
            throw WireError(.invalidValue, expected: "none of the header fields that xferd sets itself")
        }
    }

    /// Fields that framing, resuming and conditional requests depend on: xferd sets them.
    static let reserved = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Connection", "Keep-Alive", "Upgrade", "Expect",
    ]

    /// True for a character of a token (RFC 9110 §5.6.2).
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Fields whose names differ only in case are collected under the name of the first one.
    public var wire: JSONValue {
        var groups: [(name: String, values: [JSONValue])] = []
        for field in fields {
            if let index = groups.firstIndex(where: { $0.name.equalsIgnoringASCIICase(field.name) }) {
                groups[index].values.append(.string(field.value))
            } else {
                groups.append((field.name, [.string(field.value)]))
            }
        }
        var object = JSONObject()
        for group in groups {
            object.append(newKey: group.name, group.values.count == 1 ? group.values[0] : .array(group.values))
        }
        return .object(object)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "HeaderList") { _ in
            [
                "description": "Header fields by name; an array where a field is repeated.", "type": "object",
                "additionalProperties": [
                    "anyOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]]
                ],
            ]
        }
    }

    /// The list with secret values masked.
    public var redacted: HeaderList { HeaderList(fields.map(Redaction.header)) }
}

/// Header fields of a task: as `HeaderList`, and `null` for a field of the profile's that is not wanted.
public struct HeaderChanges: WireValue, Hashable {
    public var set: HeaderList
    /// Names whose value was `null`.
    public var unset: [String]

    public init(_ fields: [HeaderField], unset: [String] = []) {
        set = HeaderList(fields)
        self.unset = unset
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else {
            throw .wrongType(expected: "an object of header names and values")
        }
        var wanted = JSONObject()
        unset = []
        for (name, value) in object.members {
            if value == .null { unset.append(name) } else { wanted.append(newKey: name, value) }
        }
        set = try HeaderList(wire: .object(wanted), mode: mode)
    }

    public var wire: JSONValue {
        guard case .object(var object) = set.wire else { return set.wire }
        for name in unset { object[name] = .null }
        return .object(object)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "HeaderChanges") { _ in
            [
                "description":
                    "Header fields by name; an array repeats a field, null removes the profile's field.",
                "type": "object",
                "additionalProperties": [
                    "anyOf": [["type": ["string", "null"]], ["type": "array", "items": ["type": "string"]]]
                ],
            ]
        }
    }
}
