public import StrictJSON

/// One entry of `batch.add` as it was written: read on its own, since a bad one stops nothing.
public struct BatchEntry: WireValue, Hashable {
    public var value: JSONValue

    public init(_ url: String) { value = .string(url) }
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) { self.value = value }

    public var wire: JSONValue { value }

    /// The task it describes, with what `options` say about all of them beneath what it says itself.
    public func task(_ options: JSONObject) throws(WireError) -> NewTask {
        var fields = options
        switch value {
        case .string(let url): fields["url"] = .string(url)
        case .object(let own):
            for (key, value) in own.members { fields[key] = value }
        default: throw .wrongType(expected: "a URL, or an object with a task's fields")
        }
        for name in Self.ownedByBatch where fields[name] != nil {
            throw WireError(.conflictingFields, at: name, expected: "no \(name) within a batch: it has its own")
        }
        return try NewTask(strict: .object(fields))
    }

    /// Fields of a task that say how it is told from, or kept together with others: in a batch, the batch does.
    static let ownedByBatch = ["group", "client_key"]

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "BatchEntry") { _ in
            [
                "description": .string(
                    "A URL, or an object with a task's fields as task.add takes them, but group and client_key. "
                        + "Anything else is reported as a bad entry.")
            ]
        }
    }
}
