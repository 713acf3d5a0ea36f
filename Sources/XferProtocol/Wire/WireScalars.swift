public import StrictJSON
import XferModel

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

/// Integers are JSON numbers without fraction and exponent, within `wireRange`.
///
/// Every schema of an integer states that range unless the field's own `WireLimit` states a narrower one, so no number
/// enters without bounds.
public protocol WireInteger: WireValue, FixedWidthInteger {}

extension WireInteger {
    /// The type's own range, and at most 2^60 on either side, like `ByteCount.greatest`, so that sums of parsed numbers
    /// fit 64 bits.
    static var wireRange: ClosedRange<Int64> {
        let (least, most) = (Int64(clamping: Self.min), Int64(clamping: Self.max))
        return Swift.max(least, -ByteCount.greatest)...Swift.min(most, ByteCount.greatest)
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "an integer") }
        let range = Self.wireRange
        guard range.contains(number), let fitting = Self(exactly: number) else {
            throw WireError(.outOfRange, expected: "an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        self = fitting
    }

    /// A number beyond the range is written as its nearest bound.
    private var written: Int64 {
        Swift.min(Swift.max(Int64(clamping: self), Self.wireRange.lowerBound), Self.wireRange.upperBound)
    }

    public var wire: JSONValue { .integer(written) }
    public func write(to output: inout [UInt8]) { output.appendJSON(written) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        [
            "type": "integer", "minimum": .integer(wireRange.lowerBound), "maximum": .integer(wireRange.upperBound),
        ]
    }
}

extension Int: WireInteger {}
extension Int64: WireInteger {}
extension Int32: WireInteger {}
extension UInt32: WireInteger {}

extension Double: WireValue {
    /// The largest whole number that is read: beyond 2^53 a double may differ from the number that it was read from.
    private static let maxWhole = 9_007_199_254_740_992.0

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .integer(let number): self = Double(number)
        case .number(let number): self = number.value
        default: throw .wrongType(expected: "a number")
        }
    }

    /// Whole numbers are written without a fraction.
    public var wire: JSONValue {
        guard magnitude <= Self.maxWhole, let whole = Int64(exactly: self) else { return .number(JSONNumber(self)) }
        return .integer(whole)
    }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "number", "minimum": (-maxWhole).wire, "maximum": maxWhole.wire]
    }
}

/// Any JSON, returned unchanged.
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
