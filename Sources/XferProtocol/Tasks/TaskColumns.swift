public import StrictJSON

/// Which fields of a task are asked for (`fields`): an array of names. `id` is always among them.
public struct TaskColumns: WireValue, Hashable {
    /// In the order they were named.
    public let names: [String]

    /// Nil when a name is none of a task's fields.
    public init?(_ names: [String]) {
        guard names.allSatisfy({ TaskRecord.wireFields.index(of: $0) != nil }) else { return nil }
        self.names = names
    }

    private init(unchecked names: [String]) { self.names = names }

    /// All but the response's header fields, which only `task.get` shows unasked.
    public static let listing = TaskColumns(
        unchecked: TaskRecord.wireFields.map(\.name).filter { $0 != "response_headers" })

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        let names = try [String](wire: value, mode: mode)
        for (index, name) in names.enumerated() where TaskRecord.wireFields.index(of: name) == nil {
            throw WireError(.unknownValue, expected: TaskRecord.wireFields.suggestion(for: name)).under(index)
        }
        self.names = names
    }

    public var wire: JSONValue { names.wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let names = TaskRecord.wireFields.map { JSONValue.string($0.name) }
        return schemas.reference(to: "TaskColumns") { _ in
            [
                "description": "Names of a task's fields; id is always given.", "type": "array",
                "items": ["type": "string", "enum": .array(names)],
            ]
        }
    }
}

extension TaskRecord {
    /// The record with only these fields, and `id`.
    public func selecting(_ columns: TaskColumns) -> TaskRecord {
        let kept = Set(columns.names)
        var record = self
        for field in Self.wireFields where !kept.contains(field.name) { field.clear(&record) }
        return record
    }
}
