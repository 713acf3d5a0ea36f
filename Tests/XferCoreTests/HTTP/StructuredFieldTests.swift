import Testing
import XferCore
import XferModel

/// RFC 9651 as far as uploads need it.
@Suite struct StructuredFieldTests {
    @Test(arguments: [
        ("?1", true), ("?0", false), ("  ?1 ", true), ("?1;a", true), ("?1; a=\"x;y\";b=:aGk=:;c=?0;d=tok/en", true),
    ])
    func aBooleanItemIsParsed(text: String, value: Bool) {
        #expect(StructuredField.boolean("F", in: [HeaderField(name: "f", value: text)]) == value)
    }

    @Test(arguments: [
        "", "1", "true", "?2", "?", "? 1", "?1 x", "?1,?1", "?1;", "?1;A", "?1;a=", "\"?1\"", "?01", "?1\t;",
    ])
    func aTextThatIsNoBooleanIsRejected(text: String) {
        #expect(StructuredField.boolean("F", in: [HeaderField(name: "F", value: text)]) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("42", 42), ("-7", -7), (" 8;v=1.5", 8), ("007", 7), ("999999999999999", 999_999_999_999_999),
    ])
    func anIntegerItemIsParsed(text: String, value: Int64) {
        #expect(StructuredField.integer("F", in: [HeaderField(name: "F", value: text)]) == value)
    }

    @Test(arguments: [
        "", "1.0", "1.", "+1", "--1", "-", "1 2", "0x10", "1e3", "1000000000000000", "1,2", "\"8\"", "@8", "8\u{0}",
    ])
    func aTextThatIsNoIntegerIsRejected(text: String) {
        #expect(StructuredField.integer("F", in: [HeaderField(name: "F", value: text)]) == nil)
    }

    @Test func aFieldLongerThanTheLimitIsRejected() {
        func dictionary(padding: Int) -> [String: StructuredField.Value]? {
            let text = "a=1, b=\"" + String(repeating: "x", count: padding) + "\""
            return StructuredField.dictionary("F", in: [HeaderField(name: "F", value: text)])
        }
        #expect(dictionary(padding: StructuredField.maxLength - 9)?.count == 2)
        #expect(dictionary(padding: StructuredField.maxLength - 8) == nil)
    }

    @Test func aDictionaryWithMoreSeparatorsThanTheLimitIsRejected() {
        func members(_ separators: Int) -> StructuredField.Dictionary {
            let text = Array(repeating: "a", count: separators + 1).joined(separator: ",")
            return StructuredField.parseDictionary("F", in: [HeaderField(name: "F", value: text)])
        }
        #expect(members(StructuredField.maxSeparators) == .members(["a": .boolean(true)]))
        #expect(members(StructuredField.maxSeparators + 1) == .tooLong)
    }

    @Test func anItemGivenTwiceIsRejected() {
        let twice = [HeaderField(name: "F", value: "1"), HeaderField(name: "F", value: "1")]
        #expect(StructuredField.integer("F", in: twice) == nil)
        #expect(StructuredField.integer("G", in: twice) == nil)
    }

    @Test func aDictionaryIsParsedAcrossRepeatedFields() {
        let fields = [
            HeaderField(name: "F", value: "max-size=10, min-size=0;x=1 ,\tflag, list=(1 \"a\" ?0);q=0.5"),
            HeaderField(name: "f", value: "text=\"a, \\\"b\\\"\", max-size=11, when=@1659578233, sign=-3"),
        ]
        #expect(
            StructuredField.dictionary("F", in: fields) == [
                "max-size": .integer(11), "min-size": .integer(0), "flag": .boolean(true), "list": .other,
                "text": .other, "when": .other, "sign": .integer(-3),
            ])
    }

    @Test(arguments: [
        "", "a=1,", ",a=1", "a=1 b=2", "A=1", "a=", "a=(1", "a=(1,2)", "a=(1\"b\")", "a=\"x", "a==1", "a=\"\\n\"",
    ])
    func aTextThatIsNoDictionaryIsRejected(text: String) {
        #expect(StructuredField.dictionary("F", in: [HeaderField(name: "F", value: text)]) == nil)
    }
}
