public import StrictJSON
public import XferModel

/// `scheme://host[:port]`.
extension Origin: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "an origin, a string") }
        guard let origin = Origin(text) else {
            throw WireError(.invalidValue, expected: "http:// or https:// with a host and, if need be, a port")
        }
        self = origin
    }

    public var wire: JSONValue { .string(text) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/]+/?$"]
    }
}
