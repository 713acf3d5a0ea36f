public import StrictJSON
public import XferModel

/// Limits of ids and sequence numbers. The database counts from 1 and never comes close to the upper bound.
enum WireID {
    /// The valid numbers. Beyond 2^53, JSON parsers that use binary64 no longer distinguish all integers (RFC 8259 §6).
    static let range: ClosedRange<Int64> = 1...(1 << 53)

    static func outOfRange(_ what: String) -> WireError {
        WireError(.outOfRange, expected: "\(what), from \(range.lowerBound) to \(range.upperBound)")
    }
}

extension WireLimit {
    /// A sequence number, or 0 for the position before the first event.
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
                "description": "Identifies a task; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}

extension TransferID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "a transfer's id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("a transfer's id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "TransferID") { _ in
            [
                "description": "Identifies a transfer; never reused.", "type": "integer", "minimum": 1,
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

/// A reference to a task by its id or, within one `task.add`, by its distance: −1 is the task before this one.
public struct TaskReference: WireValue, Hashable {
    /// The id; negative if it counts back.
    public let id: TaskID

    public init(_ id: TaskID) { self.id = id }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "a task id, an integer") }
        guard WireID.range.contains(number) || number >= -Int64(clamping: TaskLimits.batchSize) && number < 0 else {
            throw WireError(
                .outOfRange,
                expected: "a task id, at least 1, or −1 for the task before this one in the same call, −2 …")
        }
        id = TaskID(number)
    }

    public var wire: JSONValue { .integer(id.rawValue) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "TaskReference") { _ in
            [
                "description":
                    "A task's id. Within a task.add, a negative number counts back from the task's position in tasks.",
                "type": "integer", "minimum": .integer(-Int64(clamping: TaskLimits.batchSize)),
                "maximum": .integer(WireID.range.upperBound), "not": ["const": 0],
            ]
        }
    }
}
