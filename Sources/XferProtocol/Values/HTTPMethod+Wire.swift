public import StrictJSON
public import XferModel

extension HTTPMethod: WireValue {
    public init(wire value: JSONValue, mode _: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "a method, a string") }
        guard let method = HTTPMethod(rawValue: text) else {
            let meant = HTTPMethod(anyCase: text).map { "; did you mean \"\($0.rawValue)\"?" } ?? ""
            throw WireError(.invalidValue, expected: Self.expected + meant)
        }
        self = method
    }

    public var wire: JSONValue { .string(rawValue) }

    public static func schema(in _: inout WireSchemas) -> JSONValue { ["type": "string"] }
}
