public import StrictJSON

/// The requested fields of a task (`fields`): an array of names. `id` is always among them.
public struct TaskColumns: WireValue, Hashable {
    /// The names in the order of the request.
    public let names: [String]
    /// The same as positions in `TaskRecord.wireFields`.
    fileprivate let positions: FieldSet

    /// Creates the set. Returns nil when a name is none of a task's fields.
    public init?(_ names: [String]) {
        guard let columns = try? TaskColumns(strict: names.wire) else { return nil }
        self = columns
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        names = try [String](wire: value, mode: mode)
        var positions = FieldSet()
        for (index, name) in names.enumerated() {
            guard let position = TaskRecord.wireFields.index(of: name) else {
                throw WireError(.unknownValue, expected: TaskRecord.wireFields.suggestion(for: name)).under(index)
            }
            positions.insert(position)
        }
        self.positions = positions
    }

    /// All fields.
    public static let all = TaskColumns(excluding: [])

    /// True if this field of a task is among them.
    public func contains(_ name: String) -> Bool {
        TaskRecord.wireFields.index(of: name).map(positions.contains) ?? false
    }

    private init(excluding excluded: Set<String>) {
        let kept = TaskRecord.wireFields.enumerated().filter { !excluded.contains($0.element.name) }
        names = kept.map(\.element.name)
        positions = kept.reduce(into: FieldSet()) { $0.insert($1.offset) }
    }

    /// The fields of listings: all except those that only `task.get` returns by default: the response's header fields,
    /// the segments, the transfer, the staged file, the latest discard, the file system, the published file's digest
    /// and the last attempt.
    public static let listing = TaskColumns(
        excluding: [
            "response_headers", "ranges", "transfer", "staged_file", "discarded", "file_system", "digest",
            "last_attempt",
        ])

    public var wire: JSONValue { names.wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let names = TaskRecord.wireFields.map { JSONValue.string($0.name) }
        return schemas.reference(to: "TaskColumns") { _ in
            [
                "description": "Names of a task's fields; id is always returned.", "type": "array",
                "items": ["type": "string", "enum": .array(names)],
            ]
        }
    }
}

extension TaskRecord {
    /// The record with only these fields, and `id`.
    public func selecting(_ columns: TaskColumns) -> TaskRecord {
        var record = self
        for position in Self.wireFields.indices where !columns.positions.contains(position) {
            Self.wireFields.clear(position, in: &record)
        }
        return record
    }
}
