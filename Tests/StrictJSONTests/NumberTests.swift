import StrictJSON
import Testing
import XferTestSupport

@Suite struct NumberTests {
    @Test(arguments: [
        ("0", JSONValue.integer(0)), ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
        ("18446744073709551616", .number(18_446_744_073_709_551_616)), ("1.0", .number(1)), ("-0.0", .number(0)),
        ("1e2", .number(100)), ("1E+2", .number(100)), ("25e-1", .number(2.5)), ("0.1", .number(0.1)),
        ("123456789012345678901234567890", .number(1.2345678901234568e29)), ("1e-400", .number(0)),
        ("0e99999999999999999999", .number(0)), ("5e-324", .number(.leastNonzeroMagnitude)),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
        ("9007199254740993.0", .number(9_007_199_254_740_992)), ("0.30000000000000004", .number(0.1 + 0.2)),
        ("1e22", .number(1e22)), ("1e23", .number(1e23)), ("8.5e-22", .number(8.5e-22)),
    ])
    func numbersAreParsedExactly(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
    }

    @Test func theSignOfZeroIsKept() throws {
        guard case .number(let zero) = try JSONValue(parsing: "-0") else {
            Issue.record("-0 is no integer")
            return
        }
        #expect(zero.sign == .minus)
        #expect(JSONValue.number(zero).text == "-0.0")
    }

    @Test(arguments: [
        "01", "-01", "00", "1.", "-", "1.e1", "1e", "1e+", "-a", "1e400", "-1e400", "--1", "1e99999999999999999999",
    ])
    func aTextThatIsNoNumberIsRefused(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "[\(text)]") }
    }

    @Test func everyWrittenDoubleParsesToItself() throws {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let read = try JSONValue(parsing: JSONValue.number(value).text)
            #expect(double(read)?.bitPattern == value.bitPattern)
        }
    }

    @Test func shortDecimalsParseAsInTheStandardLibrary() throws {
        for _ in 0..<20_000 {
            let text =
                "\(Int.random(in: -99_999_999...99_999_999)).\(Int.random(in: 1...99_999_999))e\(Int.random(in: -30...30))"
            #expect(double(try JSONValue(parsing: text)) == Double(text))
        }
    }

    @Test func infinityAndNaNAreWrittenAsNull() {
        #expect(JSONValue.array([.number(.infinity), .number(.nan)]).text == "[null,null]")
    }

    /// The value of an integer or any other number.
    private func double(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
