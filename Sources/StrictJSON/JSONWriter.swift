extension JSONValue {
    /// Appends the value to `output` as compact UTF-8 JSON without line breaks.
    ///
    /// Numbers that were parsed keep their original notation. JSON has no infinities and no NaN: they become `null`.
    /// The parser never produces them.
    public func write(to output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(true): output.append(contentsOf: "true".utf8)
        case .bool(false): output.append(contentsOf: "false".utf8)
        case .integer(let value): output.appendJSON(value)
        case .number(let number): output.append(contentsOf: number.text.utf8)
        case .string(let value): output.appendJSON(value)
        case .array(let elements): Self.write(elements, to: &output)
        case .object(let object): object.write(to: &output)
        }
    }

    /// The value as compact JSON text.
    public var text: String {
        var output: [UInt8] = []
        write(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static func write(_ elements: [JSONValue], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            element.write(to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }
}

extension JSONObject {
    /// Appends the object to `output` as compact UTF-8 JSON without line breaks.
    public func write(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for (key, value) in members {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            output.appendJSON(key)
            output.append(UInt8(ascii: ":"))
            value.write(to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension [UInt8] {
    /// Appends `text` as a JSON string: quoted, with only quotes, backslashes and control characters escaped.
    public mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        let appended: Void? = text.utf8.withContiguousStorageIfAvailable { appendEscaped($0) }
        if appended == nil { Array(text.utf8).withUnsafeBufferPointer { appendEscaped($0) } }
        append(UInt8(ascii: "\""))
    }

    /// Appends `value` in decimal.
    public mutating func appendJSON(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    private mutating func appendEscaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        var runStart = 0
        var offset = 0
        // A loop over the collection would be several calls for each byte in a debug build.
        while offset < bytes.count {
            let byte = start[offset]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C {
                append(contentsOf: UnsafeBufferPointer(rebasing: bytes[runStart..<offset]))
                appendEscape(of: byte)
                runStart = offset + 1
            }
            offset += 1
        }
        append(contentsOf: UnsafeBufferPointer(rebasing: bytes[runStart...]))
    }

    private mutating func appendEscape(of byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            let digit = byte & 0x0F
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension JSONValue {
    /// JSON text for people: one member or element per line, two spaces of indentation per level, no line break at the
    /// end.
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
