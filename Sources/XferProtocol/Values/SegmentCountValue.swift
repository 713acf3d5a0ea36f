public import StrictJSON
public import XferModel

/// On the wire, a number of segments is an integer from 1 to 16, or `"auto"`.
extension SegmentCount: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .integer(let number):
            guard let count = Int(exactly: number).flatMap({ SegmentCount($0) }) else {
                throw WireError(.outOfRange, expected: Self.expected)
            }
            self = count
        case .string("auto"): self = .automatic
        case .string: throw WireError(.invalidValue, expected: Self.expected)
        default: throw .wrongType(expected: Self.expected)
        }
    }

    public var wire: JSONValue {
        switch self {
        case .exactly(let count): .integer(Int64(clamping: count))
        case .automatic: "auto"
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let (least, most) = (
            JSONValue.integer(Int64(clamping: range.lowerBound)), JSONValue.integer(Int64(clamping: range.upperBound))
        )
        return [
            "oneOf": [["type": "integer", "minimum": least, "maximum": most], ["type": "string", "enum": ["auto"]]]
        ]
    }
}
