public import StrictJSON

/// Status codes that count as success: `"200-299"`, or one code, `"404"`.
public struct StatusRange: WireValue, Hashable {
    public let codes: ClosedRange<Int>

    public init(_ codes: ClosedRange<Int>) { self.codes = codes }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else {
            throw .wrongType(expected: "status codes in a string, such as \"200-299\"")
        }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(Self.code)
        guard let first = parts[0], let last = parts.count == 1 ? first : parts[1], first <= last else {
            throw WireError(.invalidValue, expected: "status codes from 100 to 599, such as \"200-299\" or \"404\"")
        }
        codes = first...last
    }

    private static func code(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ (48...57).contains($0) }), let code = Int(text, radix: 10),
            (100...599).contains(code)
        else { return nil }
        return code
    }

    public var wire: JSONValue {
        .string(codes.count == 1 ? "\(codes.lowerBound)" : "\(codes.lowerBound)-\(codes.upperBound)")
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^[1-5][0-9]{2}(-[1-5][0-9]{2})?$"]
    }
}

/// On the wire, every range of integers is a range of status codes.
extension ClosedRange<Int>: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self = try StatusRange(wire: value, mode: mode).codes
    }

    public var wire: JSONValue { StatusRange(self).wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue { StatusRange.schema(in: &schemas) }
}
