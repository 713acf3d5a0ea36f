import StrictJSON
import Testing
import XferTestSupport

@Suite struct NumberTests {
    @Test(arguments: [
        ("0", JSONValue.integer(0)), ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)), ("1.0", .number(1)), ("-0.0", .number(0)),
        ("1e2", .number(100)), ("1E+2", .number(100)), ("25e-1", .number(2.5)), ("0.1", .number(0.1)),
        ("0.10", .number(0.1)), ("0e99999999999999999999", .number(0)),
        ("5e-324", .number(JSONNumber(.leastNonzeroMagnitude))),
        ("1.7976931348623157e308", .number(1.7976931348623157e308)),
        ("0.30000000000000004", .number(0.30000000000000004)),
        ("1e22", .number(1e22)), ("1e23", .number(1e23)), ("8.5e-22", .number(8.5e-22)),
    ])
    func numbersAreParsedExactly(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
        #expect(try JSONValue(parsing: text).hashValue == expected.hashValue)
    }

    /// RFC 8259 §6 sets no bound; xfer gives back what it got.
    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "12345678901234567890", "18446744073709551616",
        "123456789012345678901234567890", "9007199254740993.0", "1.10", "1e2", "1E+2", "-0", "-0.0", "1e-400",
        "0e99999999999999999999", "1e-99999999999999999999", "3.14159265358979323846264338327950288",
    ])
    func aNumberIsWrittenAsItCame(text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(value.text == text && value.integerValue == nil)
        #expect(try JSONValue(parsing: value.text) == value)
    }

    @Test(arguments: [
        ("12345678901234567890", "12345678901234567891"), ("9007199254740993.0", "9007199254740992.0"),
        ("1e-400", "0.0"), ("1e-99999999999999999999", "1e-99999999999999999998"), ("1.5", "-1.5"), ("1e2", "1e3"),
    ])
    func numbersThatADoubleDoesNotTellApartDiffer(left: String, right: String) throws {
        #expect(try JSONValue(parsing: left) != JSONValue(parsing: right))
    }

    @Test func theValueIsTheNearestDouble() throws {
        guard case .number(let number) = try JSONValue(parsing: "12345678901234567890") else {
            Issue.record("it does not fit 64 bits")
            return
        }
        #expect(number.value == 1.2345678901234567e19)
        #expect(JSONValue.number(JSONNumber(0.1 + 0.2)).text == "0.30000000000000004")
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
            let read = try JSONValue(parsing: JSONValue.number(JSONNumber(value)).text)
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
        #expect(JSONValue.array([.number(JSONNumber(.infinity)), .number(JSONNumber(.nan))]).text == "[null,null]")
    }

    /// The value of an integer or any other number.
    private func double(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .number(let number): number.value
        default: nil
        }
    }
}
