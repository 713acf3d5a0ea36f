public import StrictJSON

extension String: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "a string") }
        self = text
    }
    public var wire: JSONValue { .string(self) }
    public func write(to output: inout [UInt8]) { output.appendJSON(self) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { ["type": "string"] }
}

extension Bool: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .bool(let flag) = value else { throw .wrongType(expected: "true or false") }
        self = flag
    }
    public var wire: JSONValue { .bool(self) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { ["type": "boolean"] }
}

/// Integers are JSON numbers without fraction and exponent; what does not fit the type is out of range.
public protocol WireInteger: WireValue, FixedWidthInteger {}

extension WireInteger {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "an integer") }
        guard let fitting = Self(exactly: number) else {
            throw WireError(.outOfRange, expected: "an integer from \(Self.min) to \(Self.max)")
        }
        self = fitting
    }
    public var wire: JSONValue { .integer(Int64(clamping: self)) }
    public func write(to output: inout [UInt8]) { output.appendJSON(Int64(clamping: self)) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { ["type": "integer"] }
}

extension Int: WireInteger {}
extension Int64: WireInteger {}
extension Int32: WireInteger {}
extension UInt32: WireInteger {}

extension Double: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .integer(let number): self = Double(number)
        case .number(let number): self = number
        default: throw .wrongType(expected: "a number")
        }
    }

    /// Whole numbers are written without a fraction.
    public var wire: JSONValue {
        // Beyond 2^53 a double need not be the number it was read from.
        guard magnitude <= 9_007_199_254_740_992 else { return .number(self) }
        let whole = Int64(self)
        return Double(whole) == self ? .integer(whole) : .number(self)
    }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { ["type": "number"] }
}

/// Any JSON, given back as it came.
extension JSONValue: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) { self = value }
    public var wire: JSONValue { self }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { .object(JSONObject()) }
}

/// Any JSON object.
extension JSONObject: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else { throw .wrongType(expected: "an object") }
        self = object
    }
    public var wire: JSONValue { .object(self) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue { ["type": "object"] }
}
