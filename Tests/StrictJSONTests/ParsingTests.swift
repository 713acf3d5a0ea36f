import StrictJSON
import Testing

@Suite struct ParsingTests {
    @Test(arguments: [
        ("null", JSONValue.null), ("true", .bool(true)), (" false ", .bool(false)), ("\"\"", .string("")),
        ("[]", .array([])), ("{}", .object([:])), ("\t\r\n [ ] ", .array([])), ("\"a\"", .string("a")),
        ("[1,2,3]", .array([1, 2, 3])), ("{\"a\":{\"b\":[null]}}", .object(["a": ["b": [.null]]])),
        ("{ \"a\" : 1 , \"b\" : 2 }", .object(["a": 1, "b": 2])),
    ])
    func everyKindOfValueIsParsed(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
    }

    /// The two examples of RFC 8259, section 13.
    @Test func theExamplesOfTheRFCAreParsed() throws {
        let image = try JSONValue(
            parsing: """
                {"Image": {"Width": 800, "Height": 600, "Title": "View from 15th Floor", "Thumbnail":
                {"Url": "http://www.example.com/image/481989943", "Height": 125, "Width": 100},
                "Animated" : false, "IDs": [116, 943, 234, 38793]}}
                """)
        #expect(image["Image"]?["Thumbnail"]?["Height"] == 125)
        #expect(image["Image"]?["IDs"]?.arrayValue?.count == 4)
        let places = try JSONValue(
            parsing: "[{\"precision\": \"zip\", \"Latitude\": 37.7668, \"Longitude\": -122.3959}]")
        #expect(places.arrayValue?.first?["Longitude"] == .number(-122.3959))
    }

    @Test(arguments: [
        ("", JSONSyntaxError.Reason.unexpectedEnd, 0), ("   ", .unexpectedEnd, 3), ("[1,2", .unexpectedEnd, 4),
        ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5), ("\"abc", .unexpectedEnd, 4),
        ("\"abc\\", .unexpectedEnd, 5), ("\"\\u12", .unexpectedEnd, 5), ("tru", .unexpectedEnd, 3),
        ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("{\"a\":1,}", .unexpectedByte, 7),
        ("{a:1}", .unexpectedByte, 1), ("{\"a\" 1}", .unexpectedByte, 5), ("[1 2]", .unexpectedByte, 3),
        ("nul1", .unexpectedByte, 3), ("NaN", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0),
        ("\u{FEFF}1", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
        ("[1}", .unexpectedByte, 2), ("// x\n1", .unexpectedByte, 0), ("\u{00A0}1", .unexpectedByte, 0),
        ("1 2", .trailingBytes, 2), ("{} x", .trailingBytes, 3), ("nullx", .trailingBytes, 4),
        ("[]]", .trailingBytes, 2),
        ("1\0", .trailingBytes, 1),
    ])
    func aTextThatIsNotJSONIsRefusedWithReasonAndOffset(text: String, reason: JSONSyntaxError.Reason, offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test func levelsOfNestingAreCountedExactly() throws {
        let sixtyFour = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONValue(parsing: sixtyFour)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "[" + sixtyFour + "]") }
        #expect(error?.reason == .tooDeep(limit: 64))
        #expect(error?.offset == 64)
        let objects = String(repeating: "{\"a\":", count: 3) + "1" + String(repeating: "}", count: 3)
        _ = try JSONValue(parsing: objects, maxDepth: 3)
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: objects, maxDepth: 2) }
    }

    /// Whatever a text consists of, the estimate of its memory grows with it.
    @Test(arguments: ["0", "\"\"", "[0]", "{\"a\":0}", "[[0]]"])
    func aValueOfTooMuchMemoryIsRefused(element: String) throws {
        func parse(_ count: Int) throws {
            let text = "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
            _ = try JSONValue(parsing: text.utf8, maxMemory: 100_000)
        }
        try parse(100)
        let error = #expect(throws: JSONSyntaxError.self) { try parse(4000) }
        #expect(error?.reason == .tooLarge(limit: 100_000))
    }

    @Test func membersCountTowardsTheMemoryOfAnObject() throws {
        func parse(_ count: Int) throws {
            let text = "{" + (0..<count).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
            _ = try JSONValue(parsing: text.utf8, maxMemory: 100_000)
        }
        try parse(100)
        #expect(throws: JSONSyntaxError.self) { try parse(2000) }
    }

    @Test func aMillionOpenBracketsAreRefused() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes, maxDepth: .max) }
        #expect(error?.reason == .tooDeep(limit: 512))
    }

    @Test func anErrorNamesItsOffsetWithinTheValue() {
        let error = #expect(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: #"{"params":{"tasks":[1,{"url":"a","url":"b"}]}}"#)
        }
        #expect(error?.reason == .duplicateKey("url"))
        #expect(error?.path == "params.tasks[1].url")
        #expect(error?.description == #"duplicate key "url" at byte 33 in params.tasks[1].url"#)
    }

    @Test func anyCollectionOfBytesIsParsed() throws {
        #expect(try JSONValue(parsing: repeatElement(UInt8(ascii: "7"), count: 3)) == 777)
    }
}
