import Testing
import XferCore
import XferModel
import XferTestSupport

/// Dictionaries by the sections of RFC 9651 (RFC 8941 with Dates and Display Strings). Lists are not used here.
@Suite struct StructuredFieldConformanceTests {
    struct Subject: Sendable {
        var text: String
        var outcome: StructuredField.Dictionary

        /// The outcome of a Dictionary with the one member `a`.
        init(_ text: String, value: StructuredField.Value) { (self.text, outcome) = (text, .members(["a": value])) }

        init(_ text: String, _ outcome: StructuredField.Dictionary) { (self.text, self.outcome) = (text, outcome) }
    }

    static let dictionaries: [ConformanceCase<Subject>] = [
        .same("rfc9651 4.2-empty", Subject("", .absent)),
        .same("rfc9651 4.2-blanks", Subject("  a=1  ", value: .integer(1))),
        .same("rfc9651 4.2-leading-tab", Subject("\ta=1", .malformed)),
        .same("rfc9651 4.2.2-alone", Subject("a", value: .boolean(true))),
        .same("rfc9651 4.2.2-last", Subject("a=1, a=2", value: .integer(2))),
        .same(
            "rfc9651 4.2.2-tabs", Subject("a=1\t,\tb", .members(["a": .integer(1), "b": .boolean(true)]))),
        .same("rfc9651 4.2.2-trailing-comma", Subject("a=1,", .malformed)),
        .same("rfc9651 4.2.2-leading-comma", Subject(",a=1", .malformed)),
        .same("rfc9651 4.2.2-two-commas", Subject("a=1,,b=2", .malformed)),
        .same("rfc9651 4.2.2-no-comma", Subject("a=1 b=2", .malformed)),
        .same("rfc9651 4.2.2-no-value", Subject("a=", .malformed)),
        .same("rfc9651 4.2.2-blank-before-equals", Subject("a =1", .malformed)),
        .same("rfc9651 4.2.3.3-upper", Subject("A=1", .malformed)),
        .same("rfc9651 4.2.3.3-digit", Subject("1a=1", .malformed)),
        .same("rfc9651 4.2.3.3-star", Subject("*a=1", .members(["*a": .integer(1)]))),
        .same("rfc9651 4.2.3.3-signs", Subject("a_-.*1=1", .members(["a_-.*1": .integer(1)]))),
        .same("rfc9651 4.2.3.2-dropped", Subject("a=1;x;y=2;z=\"t\"", value: .integer(1))),
        .same("rfc9651 4.2.3.2-alone", Subject("a;x=1", value: .boolean(true))),
        .same("rfc9651 4.2.3.2-blank-after", Subject("a=1; x", value: .integer(1))),
        .same("rfc9651 4.2.3.2-blank-before", Subject("a=1 ;x", .malformed)),
        .same("rfc9651 4.2.3.2-upper", Subject("a=1;X", .malformed)),
        .same("rfc9651 4.2.3.2-no-value", Subject("a=1;x=", .malformed)),
        .same("rfc9651 4.2.1.2-list", Subject("a=(1 \"x\" t);q=0.5", value: .other)),
        .same("rfc9651 4.2.1.2-empty", Subject("a=()", value: .other)),
        .same("rfc9651 4.2.1.2-blanks", Subject("a=( 1  2 )", value: .other)),
        .same("rfc9651 4.2.1.2-comma", Subject("a=(1,2)", .malformed)),
        .same("rfc9651 4.2.1.2-open", Subject("a=(1 2", .malformed)),
        .same("rfc9651 4.2.1.2-no-blank", Subject("a=(1\"x\")", .malformed)),
    ]

    static let items: [ConformanceCase<Subject>] = [
        .same(
            "rfc9651 4.2.4-fifteen-digits", Subject("a=123456789012345", value: .integer(123_456_789_012_345))
        ),
        .same("rfc9651 4.2.4-sixteen-digits", Subject("a=1234567890123456", .malformed)),
        .same("rfc9651 4.2.4-negative", Subject("a=-12", value: .integer(-12))),
        .same("rfc9651 4.2.4-zeros", Subject("a=0012", value: .integer(12))),
        .same("rfc9651 4.2.4-plus", Subject("a=+12", .malformed)),
        .same("rfc9651 4.2.4-sign-alone", Subject("a=-", .malformed)),
        .same("rfc9651 4.2.4-decimal", Subject("a=-1.125", value: .other)),
        .same("rfc9651 4.2.4-four-fraction-digits", Subject("a=1.1252", .malformed)),
        .same("rfc9651 4.2.4-no-fraction", Subject("a=1.", .malformed)),
        .same("rfc9651 4.2.4-no-whole", Subject("a=.5", .malformed)),
        .same("rfc9651 4.2.4-twelve-and-three", Subject("a=123456789012.345", value: .other)),
        .same("rfc9651 4.2.4-thirteen", Subject("a=1234567890123.4", .malformed)),
        .same("rfc9651 4.2.5-string", Subject("a=\"x, y\"", value: .other)),
        .same("rfc9651 4.2.5-escapes", Subject(#"a="\"\\""#, value: .other)),
        .same("rfc9651 4.2.5-other-escape", Subject(#"a="\n""#, .malformed)),
        .same("rfc9651 4.2.5-open", Subject("a=\"x", .malformed)),
        .same("rfc9651 4.2.5-single-quotes", Subject("a='x'", .malformed)),
        .same("rfc9651 4.2.5-beyond-ascii", Subject("a=\"ü\"", .malformed)),
        .same("rfc9651 4.2.6-token", Subject("a=t/x:y!", value: .other)),
        .same("rfc9651 4.2.6-star", Subject("a=*t", value: .other)),
        .same("rfc9651 4.2.6-comma-in-it", Subject("a=t(", .malformed)),
        .same("rfc9651 4.2.7-bytes", Subject("a=:eGZlcg==:", value: .bytes(Array("xfer".utf8)))),
        .same("rfc9651 4.2.7-empty", Subject("a=::", value: .bytes([]))),
        .same("rfc9651 4.2.7-without-padding", Subject("a=:eGZlcg:", value: .bytes(Array("xfer".utf8)))),
        .same("rfc9651 4.2.7-blank", Subject("a=:eGZ lcg==:", .malformed)),
        .same("rfc9651 4.2.7-open", Subject("a=:eGZlcg==", .malformed)),
        .same("rfc9651 4.2.8-true", Subject("a=?1", value: .boolean(true))),
        .same("rfc9651 4.2.8-false", Subject("a=?0", value: .boolean(false))),
        .same("rfc9651 4.2.8-other", Subject("a=?t", .malformed)),
        .same("rfc9651 4.2.9-date", Subject("a=@1893456000", value: .other)),
        .same("rfc9651 4.2.9-decimal", Subject("a=@1893456000.5", .malformed)),
        .same("rfc9651 4.2.9-alone", Subject("a=@", .malformed)),
        .same("rfc9651 4.2.10-display", Subject(#"a=%"f%c3%bcr""#, value: .other)),
        .same("rfc9651 4.2.10-upper", Subject(#"a=%"f%C3%BCr""#, .malformed)),
        .same("rfc9651 4.2.10-open", Subject(#"a=%"f"#, .malformed)),
    ]

    @Test(arguments: dictionaries + items) func aFieldIsReadAsTheSectionSays(test: ConformanceCase<Subject>) {
        let field = HeaderField(name: "F", value: test.subject.text)
        #expect(StructuredField.parseDictionary("F", in: [field]) == test.subject.outcome)
    }
}
