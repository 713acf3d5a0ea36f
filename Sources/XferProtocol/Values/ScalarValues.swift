public import StrictJSON
public import XferModel

/// On the wire, a checksum is any text that `Checksum(parsing:)` reads; it is written as `sha-256=<lower-case hex>`.
extension Checksum: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "a checksum, a string") }
        do throws(ChecksumSyntaxError) {
            try self.init(parsing: text)
        } catch {
            throw WireError(
                .invalidValue,
                expected: "sha-256=<hex or base64> (also sha-512, sha-384, sha-224, blake2b, sha-1, md5): \(error)")
        }
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string"]
    }
}

/// Permission bits of a file as octal text, `"0640"`: a JSON number would be read as decimal.
extension FileMode: WireValue {
    public init(wire value: JSONValue, mode _: WireMode) throws(WireError) {
        guard case .string(let text) = value else {
            throw .wrongType(expected: "an octal mode in a string, such as \"0640\"")
        }
        guard (3...4).contains(text.utf8.count), text.utf8.count == 3 || text.hasPrefix("0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }),
            let mode = UInt16(text, radix: 8).flatMap(FileMode.init(bits:))
        else { throw WireError(.invalidValue, expected: "an octal mode such as \"0640\"") }
        self = mode
    }

    public var wire: JSONValue {
        let digits = String(bits, radix: 8)
        return .string(String(repeating: "0", count: max(0, 4 - digits.count)) + digits)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^0?[0-7]{3}$"]
    }
}

/// An origin in the form `scheme://host[:port]`.
extension Origin: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "an origin, a string") }
        guard let origin = Origin(text) else {
            throw WireError(.invalidValue, expected: "http:// or https:// with a host and, if need be, a port")
        }
        self = origin
    }

    public var wire: JSONValue { .string(text) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/]+/?$"]
    }
}

/// A value whose text has a form of its own.
private protocol WireText: WireValue, CustomStringConvertible {
    init?(_ text: String)

    static var form: String { get }
    /// The highest number of characters.
    static var maxLength: Int { get }
}

extension WireText {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "\(Self.form), a string") }
        guard text.utf8.count <= Self.maxLength, let parsed = Self(text) else {
            throw WireError(.invalidValue, expected: Self.form)
        }
        self = parsed
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "description": .string(form), "maxLength": .integer(Int64(clamping: maxLength))]
    }
}

extension LocalInterface: WireText {
    static var form: String { "the name of a network interface, or an address of this machine" }
    static var maxLength: Int { 64 }
}

extension ResolveRule: WireText {
    static var form: String { "HOST:PORT:ADDRESS[,ADDRESS], HOST being a name or *" }
    static var maxLength: Int { 1024 }
}

extension ConnectToRule: WireText {
    static var form: String { "HOST:PORT:TARGET:TARGETPORT, IPv6 addresses in brackets, each part may be empty" }
    static var maxLength: Int { 1024 }
}

extension SourceRange: WireText {
    static var form: String { expected }
    static var maxLength: Int { 48 }
}

/// On the wire, a number of segments is an integer from 1 to 16, or `"auto"`.
extension SegmentCount: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .integer(let number):
            guard let count = Int(exactly: number).flatMap({ SegmentCount($0) }) else {
                throw WireError(.outOfRange, expected: Self.expected)
            }
            self = count
        case .string("auto"): self = .automatic
        case .string: throw WireError(.invalidValue, expected: Self.expected)
        default: throw .wrongType(expected: Self.expected)
        }
    }

    public var wire: JSONValue {
        switch self {
        case .exactly(let count): .integer(Int64(clamping: count))
        case .automatic: "auto"
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let (least, most) = (
            JSONValue.integer(Int64(clamping: range.lowerBound)), JSONValue.integer(Int64(clamping: range.upperBound))
        )
        return [
            "oneOf": [["type": "integer", "minimum": least, "maximum": most], ["type": "string", "enum": ["auto"]]]
        ]
    }
}

/// RFC 3339 in UTC with milliseconds going out, any offset coming in.
extension Timestamp: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "an RFC 3339 time, a string") }
        guard let time = Timestamp(rfc3339: text) else {
            throw WireError(.invalidValue, expected: "an RFC 3339 time such as \"2026-01-02T03:04:05Z\"")
        }
        self = time
    }
    public var wire: JSONValue { .string(description) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "format": "date-time"]
    }
}

/// A method in its registered spelling, `"GET"`.
extension HTTPMethod: WireValue {
    public init(wire value: JSONValue, mode _: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "a method, a string") }
        guard let method = HTTPMethod(rawValue: text) else {
            let meant = HTTPMethod(anyCase: text).map { "; did you mean \"\($0.rawValue)\"?" } ?? ""
            throw WireError(.invalidValue, expected: Self.expected + meant)
        }
        self = method
    }

    public var wire: JSONValue { .string(rawValue) }

    public static func schema(in _: inout WireSchemas) -> JSONValue { ["type": "string"] }
}

/// Codes and ranges as text, `"200-299,404"`.
extension StatusSet: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else {
            throw .wrongType(expected: "status codes in a string, such as \"200-299\" or \"200-299,404\"")
        }
        guard let set = StatusSet(text) else { throw WireError(.invalidValue, expected: Self.expected) }
        self = set
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let range = "[1-5][0-9]{2}(-[1-5][0-9]{2})?"
        return ["type": "string", "pattern": .string("^ *\(range)( *, *\(range))* *$")]
    }
}
