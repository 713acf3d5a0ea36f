extension JSONValue {
    /// Text for people: one member or element a line, indented by two spaces, no line break at the end.
    public var prettyText: String {
        var output: [UInt8] = []
        writePretty(to: &output, indentation: 0)
        return String(decoding: output, as: UTF8.self)
    }

    private func writePretty(to output: inout [UInt8], indentation: Int) {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.appendLineBreak(indentation: indentation + 1)
                element.writePretty(to: &output, indentation: indentation + 1)
            }
            output.appendLineBreak(indentation: indentation)
            output.append(UInt8(ascii: "]"))
        case .object(let object) where !object.isEmpty:
            output.append(UInt8(ascii: "{"))
            for (index, (key, value)) in object.members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.appendLineBreak(indentation: indentation + 1)
                output.appendJSON(key)
                output.append(contentsOf: ": ".utf8)
                value.writePretty(to: &output, indentation: indentation + 1)
            }
            output.appendLineBreak(indentation: indentation)
            output.append(UInt8(ascii: "}"))
        default:
            write(to: &output)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendLineBreak(indentation: Int) {
        append(UInt8(ascii: "\n"))
        append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indentation))
    }
}
