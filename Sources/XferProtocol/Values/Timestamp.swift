public import StrictJSON
public import XferModel

/// RFC 3339 in UTC with milliseconds going out, any offset coming in.
extension Timestamp: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "an RFC 3339 time, a string") }
        guard let time = Timestamp(rfc3339: text) else {
            throw WireError(.invalidValue, expected: "an RFC 3339 time such as \"2026-01-02T03:04:05Z\"")
        }
        self = time
    }
    public var wire: JSONValue { .string(description) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "format": "date-time"]
    }
}
