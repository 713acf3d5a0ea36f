public import StrictJSON
public import XferModel

/// Ids and sequence numbers: the database counts them from 1, and never comes near their end.
enum WireID {
    /// 2^53 is the end of what every JSON reader takes for the same number (RFC 8259 §6).
    static let range: ClosedRange<Int64> = 1...(1 << 53)

    static func outOfRange(_ what: String) -> WireError {
        WireError(.outOfRange, expected: "\(what), from \(range.lowerBound) to \(range.upperBound)")
    }
}

extension WireLimit {
    /// A sequence number, or 0 for what comes before the first.
    static let sequenceNumber = WireLimit.range(EventsSince.sequenceNumbers)
}

extension TaskID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "a task id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("a task id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public func write(to output: inout [UInt8]) { output.appendJSON(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "TaskID") { _ in
            [
                "description": "Names a task; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}

extension Owner: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self.init(uid: try UInt32(wire: value, mode: mode))
    }
    public var wire: JSONValue { .integer(Int64(clamping: rawValue)) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "Owner") { _ in
            [
                "description": "The uid of the process that added the task.", "type": "integer", "minimum": 0,
                "maximum": .integer(Int64(UInt32.max)),
            ]
        }
    }
}
