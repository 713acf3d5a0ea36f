import StrictJSON

/// Writes values in YAML's flow style, such that YAML reads the same values.
enum YAMLText {
    /// Writes the text double-quoted (YAML 1.2 §7.3.1) with everything escaped that is not printable ASCII or a letter.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case let scalar where scalar.value < 32 || (127..<160).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\x" + String(repeating: "0", count: 2 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A value on one line.
    static func flow(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .array(let items): "[" + items.map(flow).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.members.map { "\(key($0.key)): \(flow($0.value))" }.joined(separator: ", ") + "}"
        case .null, .bool, .integer, .number: value.text
        }
    }

    /// Writes a key; field names are written without quotes.
    private static func key(_ text: String) -> String {
        let isWord = !text.isEmpty && text.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "_") }
        return isWord ? text : quoted(text)
    }
}
