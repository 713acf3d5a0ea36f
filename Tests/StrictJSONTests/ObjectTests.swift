import StrictJSON
import Testing

@Suite struct ObjectTests {
    @Test(arguments: [1, 15, 16, 17, 40])
    func aDuplicateKeyIsRefusedAmongAnyNumberOfKeys(count: Int) {
        let members = (0..<count).map { "\"k\($0)\":\($0)" }
        for duplicate in ["k0", "k\(count - 1)"] {
            let text = "{" + (members + ["\"\(duplicate)\":0"]).joined(separator: ",") + "}"
            let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
            #expect(error?.reason == .duplicateKey(duplicate))
        }
    }

    @Test func aDuplicateKeyBehindEscapesIsRefused() {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: #"{"ab":1,"\u0061b":2}"#) }
        #expect(error?.reason == .duplicateKey("ab"))
    }

    @Test func keysThatOnlyLookAlikeAreDistinct() throws {
        let object = try JSONValue(parsing: "{\"\u{e9}\":1,\"e\u{301}\":2}")
        #expect(object["\u{e9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{e9}") != .string("e\u{301}"))
    }

    @Test func anEndlessKeyIsShortenedInTheError() {
        let key = String(repeating: "k", count: 1_000_000)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "{\"\(key)\":1,\"\(key)\":2}") }
        #expect((error?.description.utf8.count ?? .max) < 300)
    }

    /// With a search in line this takes hours.
    @Test func aQuarterMillionKeysAreParsedAndCompared() throws {
        let text = "{" + (0..<250_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}"
        let object = try JSONValue(parsing: text)
        #expect(object["key249999"] == 249_999)
        #expect(object == (try JSONValue(parsing: text)))
        #expect(object.text == text)
    }

    @Test func objectsKeepTheirOrderAndAreEqualInAnyOrder() throws {
        let first = try JSONValue(parsing: #"{"b":1,"a":2}"#)
        let second = try JSONValue(parsing: #"{"a":2,"b":1}"#)
        #expect(first.text == #"{"b":1,"a":2}"#)
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first != (try JSONValue(parsing: #"{"a":2,"c":1}"#)))
    }

    @Test(arguments: [3, 17, 30])
    func membersAreEditedInPlace(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["k\(number)"] = .integer(Int64(number)) }
        object["k1"] = "new"
        object["k0"] = nil
        object["missing"] = nil
        #expect(object.count == count - 1)
        #expect(object["k0"] == nil)
        #expect(object["k1"] == "new")
        #expect(object["k\(count - 1)"] == .integer(Int64(count - 1)))
        #expect(object.members.first?.key == "k1")
    }

    @Test func prettyTextIsIndented() {
        let value: JSONValue = ["a": [1, ["b": .null]], "empty": [], "none": [:], "s": "x"]
        #expect(
            value.prettyText == """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "empty": [],
                  "none": {},
                  "s": "x"
                }
                """)
    }
}
