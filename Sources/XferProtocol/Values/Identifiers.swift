public import StrictJSON
public import XferModel

extension TaskID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "a task id, an integer") }
        guard number > 0 else { throw WireError(.outOfRange, expected: "a task id, at least 1") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public func write(to output: inout [UInt8]) { output.appendJSON(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "TaskID") { _ in
            ["description": "Names a task; never reused.", "type": "integer", "minimum": 1]
        }
    }
}

extension Owner: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self.init(uid: try UInt32(wire: value, mode: mode))
    }
    public var wire: JSONValue { .integer(Int64(rawValue)) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "Owner") { _ in
            [
                "description": "The uid of the process that added the task.", "type": "integer", "minimum": 0,
                "maximum": .integer(Int64(UInt32.max)),
            ]
        }
    }
}
