public import StrictJSON
public import XferModel

extension StatusSet: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else {
            throw .wrongType(expected: "status codes in a string, such as \"200-299\" or \"200-299,404\"")
        }
        guard let set = StatusSet(text) else { throw WireError(.invalidValue, expected: Self.expected) }
        self = set
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let range = "[1-5][0-9]{2}(-[1-5][0-9]{2})?"
        return ["type": "string", "pattern": .string("^ *\(range)( *, *\(range))* *$")]
    }
}
