public import StrictJSON
public import XferModel

/// Header fields of a task: as `HeaderList`, and `null` for a field of the profile's that is not wanted.
public struct HeaderChanges: WireValue, Hashable {
    public var set: HeaderList
    /// Names whose value was `null`.
    public var unset: [String]

    public init(_ fields: [HeaderField], unset: [String] = []) {
        set = HeaderList(fields)
        self.unset = unset
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else {
            throw .wrongType(expected: "an object of header names and values")
        }
        var wanted = JSONObject()
        unset = []
        for (name, value) in object.members {
            if value == .null { unset.append(name) } else { wanted.append(newKey: name, value) }
        }
        set = try HeaderList(wire: .object(wanted), mode: mode)
    }

    public var wire: JSONValue {
        guard case .object(var object) = set.wire else { return set.wire }
        for name in unset { object[name] = .null }
        return .object(object)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "HeaderChanges") { _ in
            [
                "description":
                    "Header fields by name; an array where a field is repeated, null for one of the profile's that is not wanted.",
                "type": "object",
                "additionalProperties": [
                    "anyOf": [["type": ["string", "null"]], ["type": "array", "items": ["type": "string"]]]
                ],
            ]
        }
    }
}
