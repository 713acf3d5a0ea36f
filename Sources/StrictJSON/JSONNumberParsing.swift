extension JSONParser {
    /// Reads a number that begins at `position` with a digit or `-`.
    mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var digits = Digits()
        try integerPart(&digits)
        var isInteger = true
        var exponent = 0
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            let fractionStart = position
            try requiredDigits(&digits)
            exponent = fractionStart - position
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            exponent += try exponentPart()
        }
        if isInteger, let integer = digits.integer(isNegative: isNegative) { return .integer(integer) }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard digits.isSurelyFinite(exponent: exponent) || Double(text)?.isFinite == true else {
            throw JSONSyntaxError(.invalidNumber, offset: start)
        }
        return .number(JSONNumber(written: text))
    }

    private mutating func integerPart(_ digits: inout Digits) throws(JSONSyntaxError) {
        let start = position
        try requiredDigits(&digits)
        guard bytes[start] != UInt8(ascii: "0") || position == start + 1 else {
            throw JSONSyntaxError(.invalidNumber, offset: start)
        }
    }

    private mutating func requiredDigits(_ digits: inout Digits) throws(JSONSyntaxError) {
        let start = position
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            digits.append(digit)
            position += 1
        }
        guard position > start else { throw failure(position < bytes.count ? .invalidNumber : .unexpectedEnd) }
    }

    /// Reads the exponent at `e`. The result is limited to ±1,000,000: a larger one only has to stay beyond what
    /// `Digits.isSurelyFinite` accepts.
    private mutating func exponentPart() throws(JSONSyntaxError) -> Int {
        position += 1
        var isNegative = false
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
            isNegative = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        var digits = Digits()
        try requiredDigits(&digits)
        let value = digits.overflowed ? 1_000_000 : Int(clamping: Swift.min(digits.value, 1_000_000))
        return isNegative ? -value : value
    }
}

/// The decimal digits read so far, as one 64-bit integer. The value is invalid once `overflowed` is true.
private struct Digits {
    var value: UInt64 = 0
    var overflowed = false

    mutating func append(_ digit: UInt8) {
        let (product, first) = value.multipliedReportingOverflow(by: 10)
        let (sum, second) = product.addingReportingOverflow(UInt64(clamping: digit))
        value = sum
        overflowed = overflowed || first || second
    }

    /// The digits as an integer, or nil if they do not fit a signed 64-bit integer, and for `-0`, which is not an
    /// integer.
    func integer(isNegative: Bool) -> Int64? {
        if overflowed { return nil }
        if !isNegative { return Int64(exactly: value) }
        if value == 0 { return nil }
        return value <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- value) : nil
    }

    /// True if the number certainly has a double: 64-bit digits and a small power of ten. For other numbers the text
    /// itself has to be converted.
    func isSurelyFinite(exponent: Int) -> Bool { !overflowed && exponent < 288 }
}
