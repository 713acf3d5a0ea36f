extension JSONValue {
    /// Without the members of objects whose value is null, at any depth; nulls in arrays stay.
    ///
    /// AFJSONResponseSerializer's `removesKeysWithNullValues`: what callers look up is then there or absent, never null.
    public var strippingNulls: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string:
            return self
        case .array(let elements):
            return .array(elements.map(\.strippingNulls))
        case .object(let object):
            var stripped = JSONObject()
            for (key, value) in object.members where value != .null {
                stripped.append(newKey: key, value.strippingNulls)
            }
            return .object(stripped)
        }
    }
}
