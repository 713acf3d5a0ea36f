public import StrictJSON
public import XferModel

/// A task by its id or, within one `task.add`, by how many places before this one it stands: −1 is the one before.
public struct TaskReference: WireValue, Hashable {
    /// Negative when it counts back.
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
                    "A task's id; negative, within one task.add, it counts back from the task's own place in tasks.",
                "type": "integer", "minimum": .integer(-Int64(clamping: TaskLimits.batchSize)),
                "maximum": .integer(WireID.range.upperBound), "not": ["const": 0],
            ]
        }
    }
}
