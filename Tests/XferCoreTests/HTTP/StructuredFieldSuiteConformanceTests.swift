import Testing
import XferCore
import XferModel
import XferTestSupport

/// The IETF HTTP group's structured-field-tests, by the names of their files and cases. An item of theirs is the member
/// `a` of a Dictionary here, because Dictionaries alone are read. What they say of Lists, and the keys and characters
/// that they generate, are not here.
@Suite struct StructuredFieldSuiteConformanceTests {
    struct Subject: Sendable {
        var lines: [String]
        var outcome: StructuredField.Dictionary

        /// A Dictionary with these members.
        init(_ lines: String..., members: [String: StructuredField.Value]) {
            (self.lines, outcome) = (lines, .members(members))
        }

        /// A Dictionary with the one member `a`.
        init(_ lines: String..., value: StructuredField.Value) {
            (self.lines, outcome) = (lines, .members(["a": value]))
        }

        init(_ lines: String..., outcome: StructuredField.Dictionary) { (self.lines, self.outcome) = (lines, outcome) }
    }

    static let dictionaries: [ConformanceCase<Subject>] = [
        .same(
            "structured-fields dictionary: basic dictionary",
            Subject(#"de="Birne", by=:eGZlcg==:"#, members: ["de": .other, "by": .bytes(Array("xfer".utf8))])),
        .same("structured-fields dictionary: empty dictionary", Subject("", outcome: .absent)),
        .same("structured-fields dictionary: single item dictionary", Subject("k=7", members: ["k": .integer(7)])),
        .same("structured-fields dictionary: list item dictionary", Subject("k=(7 8)", members: ["k": .other])),
        .same("structured-fields dictionary: single list item dictionary", Subject("k=(7)", members: ["k": .other])),
        .same("structured-fields dictionary: empty list item dictionary", Subject("k=()", members: ["k": .other])),
        .same(
            "structured-fields dictionary: no whitespace dictionary",
            Subject("k=7,n=8", members: ["k": .integer(7), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: extra whitespace dictionary",
            Subject("k=7 ,  n=8", members: ["k": .integer(7), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: tab separated dictionary",
            Subject("k=7\t,\tn=8", members: ["k": .integer(7), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: leading whitespace dictionary",
            Subject("     k=7 ,  n=8", members: ["k": .integer(7), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: whitespace before = dictionary", Subject("k =7, n=8", outcome: .malformed)),
        .same("structured-fields dictionary: whitespace after = dictionary", Subject("k=7, n= 8", outcome: .malformed)),
        .same(
            "structured-fields dictionary: two lines dictionary",
            Subject("k=7", "n=8", members: ["k": .integer(7), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: missing value dictionary",
            Subject("k=7, n, p=9", members: ["k": .integer(7), "n": .boolean(true), "p": .integer(9)])),
        .same(
            "structured-fields dictionary: all missing value dictionary",
            Subject("k, n, p", members: ["k": .boolean(true), "n": .boolean(true), "p": .boolean(true)])),
        .same(
            "structured-fields dictionary: start missing value dictionary",
            Subject("k, n=8", members: ["k": .boolean(true), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: end missing value dictionary",
            Subject("k=7, n", members: ["k": .integer(7), "n": .boolean(true)])),
        .same(
            "structured-fields dictionary: missing value with params dictionary",
            Subject("k=7, n;q=4, p=9", members: ["k": .integer(7), "n": .boolean(true), "p": .integer(9)])),
        .same(
            "structured-fields dictionary: explicit true value with params dictionary",
            Subject("k=7, n=?1;q=4, p=9", members: ["k": .integer(7), "n": .boolean(true), "p": .integer(9)])),
        .same("structured-fields dictionary: trailing comma dictionary", Subject("k=7, n=8,", outcome: .malformed)),
        .same("structured-fields dictionary: empty item dictionary", Subject("k=7,,n=8,", outcome: .malformed)),
        .same(
            "structured-fields dictionary: duplicate key dictionary",
            Subject("k=7,n=8,k=9", members: ["k": .integer(9), "n": .integer(8)])),
        .same(
            "structured-fields dictionary: dictionary key ordering",
            Subject("p, z, c", members: ["p": .boolean(true), "z": .boolean(true), "c": .boolean(true)])),
        .same("structured-fields dictionary: numeric key dictionary", Subject("k=7,8n=8,k=9", outcome: .malformed)),
        .same("structured-fields dictionary: uppercase key dictionary", Subject("k=7,N=8,k=9", outcome: .malformed)),
        .same("structured-fields dictionary: bad key dictionary", Subject("k=7,n?=8,k=9", outcome: .malformed)),
        .same(
            "structured-fields param-dict: basic parameterised dict",
            Subject(
                #"kil=31;u=1;w=2, met=62, sec=93;q=9;r="+t""#,
                members: ["kil": .integer(31), "met": .integer(62), "sec": .integer(93)])),
        .same(
            "structured-fields param-dict: single item parameterised dict",
            Subject("k=t; q=0.5", members: ["k": .other])),
        .same(
            "structured-fields param-dict: list item parameterised dictionary",
            Subject("k=(7 8); q=0.5", members: ["k": .other])),
        .same(
            "structured-fields param-dict: missing parameter value parameterised dict",
            Subject("k=3;u;w=5", members: ["k": .integer(3)])),
        .same(
            "structured-fields param-dict: terminal missing parameter value parameterised dict",
            Subject("k=3;u=5;w", members: ["k": .integer(3)])),
        .same(
            "structured-fields param-dict: no whitespace parameterised dict",
            Subject("k=t;u=1,n=r;w=2", members: ["k": .other, "n": .other])),
        .same(
            "structured-fields param-dict: whitespace before = parameterised dict",
            Subject("k=t;q =0.5", outcome: .malformed)),
        .same(
            "structured-fields param-dict: whitespace after = parameterised dict",
            Subject("k=t;q= 0.5", outcome: .malformed)),
        .same(
            "structured-fields param-dict: whitespace before ; parameterised dict",
            Subject("k=t ;q=0.5", outcome: .malformed)),
        .same(
            "structured-fields param-dict: whitespace after ; parameterised dict",
            Subject("k=t; q=0.5", members: ["k": .other])),
        .same(
            "structured-fields param-dict: extra whitespace parameterised dict",
            Subject("k=t;  u=1  ,  n=r; w=2; x=3", members: ["k": .other, "n": .other])),
        .same(
            "structured-fields param-dict: two lines parameterised list",
            Subject("k=t;u=1", "n=r;w=2", members: ["k": .other, "n": .other])),
        .same(
            "structured-fields param-dict: trailing comma parameterised list",
            Subject("k=t; q=0.5,", outcome: .malformed)),
        .same(
            "structured-fields param-dict: empty item parameterised list",
            Subject("k=t; q=0.5,,u=w", outcome: .malformed)),
    ]

    static let numbers: [ConformanceCase<Subject>] = [
        .same("structured-fields number: basic integer", Subject("a=81", value: .integer(81))),
        .same("structured-fields number: zero integer", Subject("a=0", value: .integer(0))),
        .same("structured-fields number: negative zero", Subject("a=-0", value: .integer(0))),
        .same("structured-fields number: double negative zero", Subject("a=--0", outcome: .malformed)),
        .same("structured-fields number: negative integer", Subject("a=-81", value: .integer(-81))),
        .same("structured-fields number: leading 0 integer", Subject("a=081", value: .integer(81))),
        .same("structured-fields number: leading 0 negative integer", Subject("a=-081", value: .integer(-81))),
        .same("structured-fields number: leading 0 zero", Subject("a=00", value: .integer(0))),
        .same("structured-fields number: comma", Subject("a=8,1", outcome: .malformed)),
        .same("structured-fields number: negative non-DIGIT first character", Subject("a=-x81", outcome: .malformed)),
        .same("structured-fields number: sign out of place", Subject("a=8-1", outcome: .malformed)),
        .same("structured-fields number: whitespace after sign", Subject("a=- 81", outcome: .malformed)),
        .same(
            "structured-fields number: long integer", Subject("a=987654321012345", value: .integer(987_654_321_012_345))
        ),
        .same(
            "structured-fields number: long negative integer",
            Subject("a=-987654321012345", value: .integer(-987_654_321_012_345))),
        .same("structured-fields number: too long integer", Subject("a=9876543210123456", outcome: .malformed)),
        .same(
            "structured-fields number: negative too long integer", Subject("a=-9876543210123456", outcome: .malformed)),
        .same("structured-fields number: simple decimal", Subject("a=8.15", value: .other)),
        .same("structured-fields number: negative decimal", Subject("a=-8.15", value: .other)),
        .same("structured-fields number: decimal, whitespace after decimal", Subject("a=8. 15", outcome: .malformed)),
        .same("structured-fields number: decimal, whitespace before decimal", Subject("a=8 .15", outcome: .malformed)),
        .same(
            "structured-fields number: negative decimal, whitespace after sign",
            Subject("a=- 8.15", outcome: .malformed)),
        .same("structured-fields number: tricky precision decimal", Subject("a=987654321012.1", value: .other)),
        .same("structured-fields number: double decimal decimal", Subject("a=8.1.5", outcome: .malformed)),
        .same("structured-fields number: adjacent double decimal decimal", Subject("a=8..1", outcome: .malformed)),
        .same("structured-fields number: decimal with three fractional digits", Subject("a=8.151", value: .other)),
        .same(
            "structured-fields number: negative decimal with three fractional digits",
            Subject("a=-8.151", value: .other)),
        .same("structured-fields number: decimal with zero fractional digits", Subject("a=8.", outcome: .malformed)),
        .same(
            "structured-fields number: decimal with four fractional digits", Subject("a=8.1512", outcome: .malformed)),
        .same(
            "structured-fields number: negative decimal with four fractional digits",
            Subject("a=-8.1512", outcome: .malformed)),
        .same(
            "structured-fields number: decimal with thirteen integer digits",
            Subject("a=9876543210123.0", outcome: .malformed)),
        .same(
            "structured-fields number: negative decimal with thirteen integer digits",
            Subject("a=-9876543210123.0", outcome: .malformed)),
        .same(
            "structured-fields number: decimal with 1 significant digit and 1 insignificant digit",
            Subject("a=8.50", value: .other)),
        .same(
            "structured-fields number: decimal with 1 significant digit and 2 insignificant digits",
            Subject("a=8.500", value: .other)),
        .same(
            "structured-fields number: decimal with 2 significant digits and 1 insignificant digit",
            Subject("a=8.150", value: .other)),
        .same("structured-fields boolean: basic true boolean", Subject("a=?1", value: .boolean(true))),
        .same("structured-fields boolean: basic false boolean", Subject("a=?0", value: .boolean(false))),
        .same("structured-fields boolean: unknown boolean", Subject("a=?X", outcome: .malformed)),
        .same("structured-fields boolean: whitespace boolean", Subject("a=? 1", outcome: .malformed)),
        .same("structured-fields boolean: negative zero boolean", Subject("a=?-0", outcome: .malformed)),
        .same("structured-fields boolean: T boolean", Subject("a=?T", outcome: .malformed)),
        .same("structured-fields boolean: F boolean", Subject("a=?F", outcome: .malformed)),
        .same("structured-fields boolean: t boolean", Subject("a=?t", outcome: .malformed)),
        .same("structured-fields boolean: f boolean", Subject("a=?f", outcome: .malformed)),
        .same("structured-fields boolean: spelled-out True boolean", Subject("a=?True", outcome: .malformed)),
        .same("structured-fields boolean: spelled-out False boolean", Subject("a=?False", outcome: .malformed)),
        .same("structured-fields boolean: boolean prefix only", Subject("a=?", outcome: .malformed)),
    ]

    static let texts: [ConformanceCase<Subject>] = [
        .same("structured-fields binary: basic binary", Subject("a=:eGZlciE=:", value: .bytes(Array("xfer!".utf8)))),
        .same("structured-fields binary: empty binary", Subject("a=::", value: .bytes([]))),
        .same("structured-fields binary: padding at beginning", Subject("a=:=eGZlciE=:", outcome: .malformed)),
        .same("structured-fields binary: padding in middle", Subject("a=:e=GZlciE=:", outcome: .malformed)),
        .same("structured-fields binary: bad padding", Subject("a=:eGZlciE:", value: .bytes(Array("xfer!".utf8)))),
        .same("structured-fields binary: bad padding dot", Subject("a=:eGZlciE.:", outcome: .malformed)),
        .same("structured-fields binary: bad end delimiter", Subject("a=:eGZlciE=", outcome: .malformed)),
        .same("structured-fields binary: extra whitespace", Subject("a=:eGZlc iE=:", outcome: .malformed)),
        .same("structured-fields binary: all whitespace", Subject("a=:    :", outcome: .malformed)),
        .same("structured-fields binary: extra chars", Subject("a=:eGZlc!iE=:", outcome: .malformed)),
        .same("structured-fields binary: suffix chars", Subject("a=:eGZlciE=!:", outcome: .malformed)),
        .same("structured-fields binary: non-ASCII binary", Subject("a=:/+9h:", value: .bytes([0xff, 0xef, 0x61]))),
        .same("structured-fields binary: base64url binary", Subject("a=:_-9h:", outcome: .malformed)),
        .same("structured-fields binary: binary prefix only", Subject("a=:", outcome: .malformed)),
        .same("structured-fields string: basic string", Subject(#"a="tea cup""#, value: .other)),
        .same("structured-fields string: empty string", Subject(#"a="""#, value: .other)),
        .same("structured-fields string: whitespace string", Subject(#"a="    ""#, value: .other)),
        .same("structured-fields string: non-ascii string", Subject(#"a="Grüße""#, outcome: .malformed)),
        .same("structured-fields string: tab in string", Subject("a=\"\t\"", outcome: .malformed)),
        .same("structured-fields string: newline in string", Subject("a=\"x\ny\"", outcome: .malformed)),
        .same("structured-fields string: single quoted string", Subject("a='tea'", outcome: .malformed)),
        .same("structured-fields string: unbalanced string", Subject(#"a="tea"#, outcome: .malformed)),
        .same("structured-fields string: string quoting", Subject(#"a="tea \"green\" \\ cup""#, value: .other)),
        .same("structured-fields string: bad string quoting", Subject(#"a="tea \:""#, outcome: .malformed)),
        .same("structured-fields string: ending string quote", Subject(#"a="tea \""#, outcome: .malformed)),
        .same("structured-fields string: abruptly ending string quote", Subject(#"a="tea \"#, outcome: .malformed)),
        .same("structured-fields string: two lines string", Subject(#"a="tea"#, #"cup""#, value: .other)),
        .same("structured-fields token: basic token - item", Subject("a=t_e-a.2:c%41/*", value: .other)),
        .same("structured-fields token: token with capitals - item", Subject("a=teaCup", value: .other)),
        .same("structured-fields token: token starting with capitals - item", Subject("a=TeaCup", value: .other)),
    ]

    static let others: [ConformanceCase<Subject>] = [
        .same("structured-fields date: date - 1970-01-01 00:00:00", Subject("a=@0", value: .other)),
        .same("structured-fields date: date - 2022-08-04 01:57:13", Subject("a=@1659578234", value: .other)),
        .same("structured-fields date: date - 1917-05-30 22:02:47", Subject("a=@-1659578234", value: .other)),
        .same("structured-fields date: date - 2^31", Subject("a=@2147483649", value: .other)),
        .same("structured-fields date: date - 2^32", Subject("a=@4294967297", value: .other)),
        .same("structured-fields date: date - decimal", Subject("a=@1659578234.25", outcome: .malformed)),
        .same(
            "structured-fields date: too large syntactic date - 1,000,000,000,000,000",
            Subject("a=@1000000000000001", outcome: .malformed)),
        .same(
            "structured-fields date: too small syntactic date - -1,000,000,000,000,000",
            Subject("a=@-1000000000000001", outcome: .malformed)),
        .same("structured-fields date: date with negative zero", Subject("a=@-0", value: .other)),
        .same("structured-fields date: date - empty", Subject("a=@", outcome: .malformed)),
        .same("structured-fields date: date - sign only", Subject("a=@-", outcome: .malformed)),
        .same("structured-fields date: date - space", Subject("a=@ 23456789", outcome: .malformed)),
        .same("structured-fields date: date - non-digit", Subject("a=@xyz", outcome: .malformed)),
        .same(
            "structured-fields display-string: basic display string (ascii content)",
            Subject(#"a=%"tea cup""#, value: .other)),
        .same(
            "structured-fields display-string: non-ascii display string (uppercase escaping)",
            Subject(#"a=%"Gr%C3%BC""#, outcome: .malformed)),
        .same(
            "structured-fields display-string: non-ascii display string (lowercase escaping)",
            Subject(#"a=%"Gr%c3%bc""#, value: .other)),
        .same(
            "structured-fields display-string: non-ascii display string (unescaped)",
            Subject(#"a=%"Grü""#, outcome: .malformed)),
        .same("structured-fields display-string: tab in display string", Subject("a=%\"\t\"", outcome: .malformed)),
        .same("structured-fields display-string: newline in display string", Subject("a=%\"\n\"", outcome: .malformed)),
        .same(
            "structured-fields display-string: single quoted display string", Subject("a=%'tea'", outcome: .malformed)),
        .same("structured-fields display-string: unquoted display string", Subject("a=%tea", outcome: .malformed)),
        .same(
            "structured-fields display-string: display string missing initial quote",
            Subject(#"a=%tea""#, outcome: .malformed)),
        .same("structured-fields display-string: unbalanced display string", Subject(#"a=%"tea"#, outcome: .malformed)),
        .same(
            "structured-fields display-string: display string quoting",
            Subject(#"a=%"tea %22green%22 \ cup""#, value: .other)),
        .same(
            "structured-fields display-string: bad display string escaping",
            Subject(#"a=%"tea %b"#, outcome: .malformed)),
        .same(
            "structured-fields display-string: bad display string utf-8 (invalid 2-byte seq)",
            Subject(#"a=%"%c3%2a""#, outcome: .malformed)),
        .same(
            "structured-fields display-string: bad display string utf-8 (invalid sequence id)",
            Subject(#"a=%"%a3%a2""#, outcome: .malformed)),
        .same(
            "structured-fields display-string: bad display string utf-8 (invalid hex)",
            Subject(#"a=%"%h0%1v""#, outcome: .malformed)),
        .same(
            "structured-fields display-string: bad display string utf-8 (invalid 3-byte seq)",
            Subject(#"a=%"%e2%2a%a1""#, outcome: .malformed)),
        .same(
            "structured-fields display-string: bad display string utf-8 (invalid 4-byte seq)",
            Subject(#"a=%"%f0%2a%8c%2a""#, outcome: .malformed)),
        .same("structured-fields display-string: BOM in display string", Subject(#"a=%"m %ef%bb%bf""#, value: .other)),
        .same(
            "structured-fields display-string: two lines display string", Subject(#"a=%"tea"#, #"c""#, value: .other)),
        .same(
            "structured-fields display-string: truncated display string escape (zero digits)",
            Subject(#"a=%"%""#, outcome: .malformed)),
        .same("structured-fields display-string: over-encoded display string", Subject(#"a=%"%74""#, value: .other)),
        .same("structured-fields listlist: single item list of lists", Subject("a=(81)", value: .other)),
        .same("structured-fields listlist: extra whitespace list of lists", Subject("a=(  8  1  )", value: .other)),
        .same("structured-fields listlist: wrong whitespace list of lists", Subject("a=(8\t 1)", outcome: .malformed)),
        .same(
            "structured-fields listlist: no trailing parenthesis list of lists", Subject("a=(8", outcome: .malformed)),
        .same(
            "structured-fields listlist: no trailing parenthesis middle list of lists",
            Subject("a=(8 1, n=(2 3)", outcome: .malformed)),
        .same(
            "structured-fields listlist: no spaces in inner-list",
            Subject(#"a=(tea"cup"?0815*uZ2*rst)"#, outcome: .malformed)),
        .same("structured-fields listlist: no closing parenthesis", Subject("a=(", outcome: .malformed)),
        .same("structured-fields listlist: nested inner lists", Subject("a=((8))", outcome: .malformed)),
        .same("structured-fields listlist: dictionary in inner list", Subject("a=(k=8)", outcome: .malformed)),
        .same(
            "structured-fields param-listlist: parameterised inner list item",
            Subject("a=(tea_1;u=1;w=2;cup_2)", value: .other)),
        .same(
            "structured-fields param-listlist: parameterised inner list with parameterised item",
            Subject("a=(tea_1;u=1;w=2);cup_2", value: .other)),
    ]

    static let all: [ConformanceCase<Subject>] = [dictionaries, numbers, texts, others].flatMap { $0 }

    @Test(arguments: all) func aFieldIsReadAsTheSuiteSays(
        test: ConformanceCase<Subject>
    ) {
        let fields = test.subject.lines.map { HeaderField(name: "F", value: $0) }
        #expect(StructuredField.parseDictionary("F", in: fields) == test.subject.outcome)
    }
}
