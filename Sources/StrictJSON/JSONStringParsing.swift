extension JSONParser {
    /// Reads a string whose opening quote is at `position`.
    ///
    /// Bytes that need no attention are skipped eight at a time. The standard library validates the UTF-8 once, when
    /// the `String` is made.
    mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        skipPlainBytes()
        guard position < bytes.count else { throw failure(.unexpectedEnd) }
        if bytes[position] == UInt8(ascii: "\"") {
            let text = try validated(start..<position)
            position += 1
            return text
        }
        return try stringWithEscapes(from: start)
    }

    private mutating func stringWithEscapes(from start: Int) throws(JSONSyntaxError) -> String {
        unescaped.removeAll(keepingCapacity: true)
        var runStart = start
        while true {
            skipPlainBytes()
            guard position < bytes.count else { throw failure(.unexpectedEnd) }
            unescaped.append(contentsOf: bytes[runStart..<position])
            switch bytes[position] {
            case UInt8(ascii: "\""):
                // Each escape sequence yields a complete character. So the unescaped bytes are valid UTF-8 exactly if
                // the raw text is.
                guard let text = String(validating: unescaped, as: UTF8.self) else {
                    throw invalidUTF8(in: start..<position)
                }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                try escape()
                runStart = position
            default:
                throw failure(.invalidString)
            }
        }
    }

    /// Reads one escape sequence at `position` and appends the character that it represents.
    private mutating func escape() throws(JSONSyntaxError) {
        guard position + 1 < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, offset: bytes.count) }
        let meaning: UInt8
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): meaning = bytes[position + 1]
        case UInt8(ascii: "b"): meaning = 0x08
        case UInt8(ascii: "f"): meaning = 0x0C
        case UInt8(ascii: "n"): meaning = 0x0A
        case UInt8(ascii: "r"): meaning = 0x0D
        case UInt8(ascii: "t"): meaning = 0x09
        case UInt8(ascii: "u"):
            unescaped.append(contentsOf: UTF8.encode(try unicodeEscape()) ?? UTF8.encodedReplacementCharacter)
            return
        default: throw failure(.invalidString)
        }
        unescaped.append(meaning)
        position += 2
    }

    /// Reads `\uXXXX`, or two such sequences (a surrogate pair) for a character beyond U+FFFF (RFC 8259, section 7).
    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try hexadecimal(at: position)
        if let scalar = Unicode.Scalar(first) {
            position += 6
            return scalar
        }
        guard first < 0xDC00, position + 7 < bytes.count, bytes[position + 6] == UInt8(ascii: "\\"),
            bytes[position + 7] == UInt8(ascii: "u")
        else { throw failure(.invalidString) }
        let second = try hexadecimal(at: position + 6)
        guard 0xDC00...0xDFFF ~= second,
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(clamping: first - 0xD800) << 10) + UInt32(clamping: second - 0xDC00))
        else { throw failure(.invalidString) }
        position += 12
        return scalar
    }

    /// The value of the four hexadecimal digits of the `\u` sequence at `offset`.
    private func hexadecimal(at offset: Int) throws(JSONSyntaxError) -> UInt16 {
        guard offset + 6 <= bytes.count else { throw JSONSyntaxError(.unexpectedEnd, offset: bytes.count) }
        var value: UInt16 = 0
        for byte in bytes[offset + 2..<offset + 6] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONSyntaxError(.invalidString, offset: offset)
            }
            value = value << 4 | UInt16(clamping: digit)
        }
        return value
    }

    /// Moves to the next quote, backslash or control character, or to the end.
    private mutating func skipPlainBytes() {
        guard let base = UnsafeRawPointer(bytes.baseAddress) else { return }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        // The classic test for a zero byte in a word. It may report a word without such a byte, but it never misses
        // one.
        while position + 8 <= bytes.count {
            let word = base.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let found =
                ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
                | ((word &- ones &* 0x20) & ~word)
            if found & highBits != 0 { break }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            position += 1
        }
    }

    private func validated(_ range: Range<Int>) throws(JSONSyntaxError) -> String {
        guard let text = String(validating: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self) else {
            throw invalidUTF8(in: range)
        }
        return text
    }

    /// The error for `range`, with the offset of the first byte that is not valid UTF-8.
    private func invalidUTF8(in range: Range<Int>) -> JSONSyntaxError {
        var decoder = UTF8()
        var rest = bytes[range].makeIterator()
        var offset = range.lowerBound
        while case .scalarValue(let scalar) = decoder.decode(&rest) { offset += UTF8.width(scalar) }
        return JSONSyntaxError(.invalidUTF8, offset: offset)
    }
}
