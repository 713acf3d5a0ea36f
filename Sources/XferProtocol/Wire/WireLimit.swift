import StrictJSON

/// A bound on a field's value: checked when it is read, and part of its schema.
public struct WireLimit: Sendable {
    /// The bound's keywords in the field's JSON Schema.
    let keywords: JSONObject
    let expected: String
    let reason: WireError.Reason
    /// True if the value keeps the bound; values of other types pass, their type is refused elsewhere.
    let admits: @Sendable (JSONValue) -> Bool

    func check(_ value: JSONValue) throws(WireError) {
        guard admits(value) else { throw WireError(reason, expected: expected) }
    }

    /// Checks a value against all bounds of its field.
    @inline(never)
    static func check(_ value: JSONValue, _ limits: [WireLimit]) throws(WireError) {
        for limit in limits { try limit.check(value) }
    }

    /// The error for a value that its type refused: the field's own range says more than its type's.
    @inline(never)
    static func narrower(_ general: WireError, _ value: JSONValue, _ limits: [WireLimit]) -> WireError {
        guard general.reason == .outOfRange else { return general }
        do { try check(value, limits) } catch { return error }
        return general
    }

    /// An integer within the range.
    public static func range(_ range: ClosedRange<Int64>) -> WireLimit {
        let keywords: JSONObject = ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
        return WireLimit(keywords: keywords, expected: expected, reason: .outOfRange) {
            $0.integerValue.map(range.contains) ?? true
        }
    }

    /// A number within the range.
    public static func number(_ range: ClosedRange<Double>) -> WireLimit {
        let keywords: JSONObject = ["minimum": range.lowerBound.wire, "maximum": range.upperBound.wire]
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        return WireLimit(keywords: keywords, expected: expected, reason: .outOfRange) {
            switch $0 {
            case .integer(let value): range.contains(Double(value))
            case .number(let number): range.contains(number.value)
            default: true
            }
        }
    }

    /// A string with this many characters (Unicode scalars, as JSON Schema counts them).
    public static func length(_ range: ClosedRange<Int>) -> WireLimit {
        let keywords: JSONObject = [
            "minLength": .integer(Int64(clamping: range.lowerBound)),
            "maxLength": .integer(Int64(clamping: range.upperBound)),
        ]
        let expected =
            range.lowerBound == 0
            ? "at most \(range.upperBound) characters" : "\(range.lowerBound) to \(range.upperBound) characters"
        return WireLimit(keywords: keywords, expected: expected, reason: .outOfRange) {
            $0.stringValue.map { range.contains($0.unicodeScalars.count) } ?? true
        }
    }

    /// An array with this many elements; one bare value where that is allowed counts as one.
    public static func count(_ range: ClosedRange<Int>) -> WireLimit {
        let keywords: JSONObject = [
            "minItems": .integer(Int64(clamping: range.lowerBound)),
            "maxItems": .integer(Int64(clamping: range.upperBound)),
        ]
        let expected = "\(range.lowerBound) to \(range.upperBound) elements"
        return WireLimit(keywords: keywords, expected: expected, reason: .outOfRange) {
            $0.arrayValue.map { range.contains($0.count) } ?? true
        }
    }

    /// A string of a form that `pattern` (ECMA 262, as JSON Schema has it) and `admits` both describe.
    public static func form(
        _ pattern: String, expected: String, admits: @escaping @Sendable (String) -> Bool
    ) -> WireLimit {
        WireLimit(keywords: ["pattern": .string(pattern)], expected: expected, reason: .invalidValue) {
            $0.stringValue.map(admits) ?? true
        }
    }

    /// A string without control characters (C0, DEL and C1) and line separators.
    public static let printable = WireLimit.form(
        "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$", expected: "text without control characters"
    ) { text in
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: false
            default: true
            }
        }
    }

    /// A string as `printable`, and without the controls that change the direction of text (UAX #9 §2): with them a
    /// name can look like another one.
    public static let visible = WireLimit.form(
        "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]*$",
        expected: "text without control characters and without controls of the writing direction"
    ) { text in
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: false
            default: true
            }
        }
    }

    /// The limit for JSON by its length in bytes when written compactly.
    public static func encodedSize(_ limit: Int) -> WireLimit {
        WireLimit(keywords: [:], expected: "at most \(limit) bytes of JSON", reason: .outOfRange) { value in
            var bytes: [UInt8] = []
            value.write(to: &bytes)
            return bytes.count <= limit
        }
    }
}
