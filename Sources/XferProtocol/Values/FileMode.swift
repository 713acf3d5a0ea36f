public import StrictJSON
public import XferModel

/// Permission bits of a file as octal text, `"0640"`: a JSON number would be read as decimal.
extension FileMode: WireValue {
    public init(wire value: JSONValue, mode _: WireMode) throws(WireError) {
        guard case .string(let text) = value else {
            throw .wrongType(expected: "an octal mode in a string, such as \"0640\"")
        }
        guard (3...4).contains(text.utf8.count), text.utf8.count == 3 || text.hasPrefix("0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }),
            let mode = UInt16(text, radix: 8).flatMap(FileMode.init(bits:))
        else { throw WireError(.invalidValue, expected: "an octal mode such as \"0640\"") }
        self = mode
    }

    public var wire: JSONValue {
        let digits = String(bits, radix: 8)
        return .string(String(repeating: "0", count: max(0, 4 - digits.count)) + digits)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^0?[0-7]{3}$"]
    }
}
