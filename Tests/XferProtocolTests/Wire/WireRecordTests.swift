import StrictJSON
import Testing
import XferModel
import XferProtocol

/// A record with a field of each kind.
struct Sample: WireInput, Equatable {
    enum Colour: String, WireEnum { case red, green }

    struct Part: WireInput, Equatable {
        var size = 0
        init() {}
        static let summary = "A part."
        static let wireFields: WireFields<Self> = [.required("size", \.size, "Its size.", .range(1...9))]
    }

    var name = ""
    var colour: Colour?
    var parts: [Part]?
    var limit = 100
    var note = Patch<String>.unchanged
    var total: Int64?

    init() {}

    static let summary = "A sample."
    static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Its name.", .length(1...5), example: "cup"),
        .optional("colour", \.colour, "Its colour."),
        .optional("parts", \.parts, "What it is made of.", .count(1...3)),
        .defaulted("limit", \.limit, "How many.", .range(1...1000)),
        .patch("note", \.note, "Something to remember.", .printable),
        .nullable("total", \.total, "How many there are."),
    ]
}

private func fault(_ json: JSONValue) -> WireError? {
    do throws(WireError) {
        _ = try Sample(strict: json)
        return nil
    } catch {
        return error
    }
}

struct WireRecordTests {
    @Test func aWrittenRecordParsesToItself() throws {
        var sample = Sample()
        sample.name = "cup"
        sample.colour = .green
        sample.limit = 7
        sample.note = .set("blue rim")
        let wire: JSONValue = ["name": "cup", "colour": "green", "limit": 7, "note": "blue rim", "total": nil]
        #expect(sample.wire == wire)
        #expect(try Sample(strict: wire) == sample)
    }

    @Test func absentFieldsKeepTheirDefaults() throws {
        let sample = try Sample(strict: ["name": "cup", "total": nil])
        #expect(sample.limit == 100)
        #expect(sample.colour == nil)
        #expect(sample.note == .unchanged)
    }

    @Test func nullClearsAPatchAndIsRefusedForARequiredField() throws {
        #expect(try Sample(strict: ["name": "cup", "total": nil, "note": nil]).note == .clear)
        #expect(fault(["name": "cup", "total": nil, "colour": nil])?.path == "colour")
        #expect(fault(["name": "cup", "total": nil, "limit": nil])?.reason == .wrongType)
    }

    @Test(
        arguments: [
            ([:], "name", .missing),
            (["name": "cup"], "total", .missing),
            (["name": 3], "name", .wrongType),
            (["name": ""], "name", .outOfRange),
            (["name": "teapot"], "name", .outOfRange),
            (["name": "cup", "colour": "blue"], "colour", .unknownValue),
            (["name": "cup", "colour": true], "colour", .wrongType),
            (["name": "cup", "limit": 0], "limit", .outOfRange),
            (["name": "cup", "limit": .number(1.5)], "limit", .wrongType),
            (["name": "cup", "limit": .number(1.0)], "limit", .wrongType),
            (["name": "cup", "note": "a\u{0}b"], "note", .invalidValue),
            (["name": "cup", "parts": []], "parts", .outOfRange),
            (["name": "cup", "parts": [["size": 1], ["size": 10]]], "parts[1].size", .outOfRange),
            (["name": "cup", "parts": [["size": 1], 2]], "parts[1]", .wrongType),
            (["name": "cup", "parts": [["size": 1, "weight": 2]]], "parts[0].weight", .unknownField),
            (["name": "cup", "x": 1], "x", .unknownField),
            ([], "", .wrongType),
            (nil, "", .wrongType),
        ] as [(JSONValue, String, WireError.Reason)])
    func aFaultNamesTheFieldAndTheReason(json: JSONValue, path: String, reason: WireError.Reason) {
        let error = fault(json)
        #expect(error?.path == path)
        #expect(error?.reason == reason)
        #expect(error?.expected.isEmpty == false)
    }

    /// UAX #9 §2: embeddings, overrides and isolates; ISO 6429: C1.
    @Test(arguments: [
        "\u{9b}31m", "a\u{85}b", "\u{202e}gpj.exe", "\u{2066}a\u{2069}", "a\u{2028}b", "\u{feff}a", "a\u{7f}",
    ])
    func aNameThatCouldLookLikeAnotherIsRefused(name: String) throws {
        for field in ["label", "group", "slot", "client_key"] {
            let error = #expect(throws: WireError.self) {
                try NewTask(strict: ["url": "http://a.example/", field: .string(name)])
            }
            #expect(error?.path == field && error?.reason == .invalidValue, "\(field)")
        }
        #expect(throws: WireError.self) { try TaskChanges(strict: ["label": .string(name)]) }
        #expect(throws: Never.self) { try NewTask(strict: ["url": "http://a.example/", "label": "עברית 日本 é"]) }
    }

    @Test func aMisspeltFieldIsSuggested() {
        #expect(fault(["naem": "cup"])?.expected.contains("did you mean \"name\"?") == true)
        #expect(fault(["name": "cup", "colour": "gren"])?.expected.contains("\"green\"") == true)
        #expect(fault(["weight": 1])?.expected == "one of name, colour, parts, limit, note, total")
    }

    @Test func unknownFieldsOfANewerDaemonAreIgnored() throws {
        let sample = try Sample(lenient: [
            "name": "a name that is too long for strict readers", "colour": "blue", "total": 3, "new": [1, 2],
        ])
        #expect(sample.colour == nil)
        #expect(sample.total == 3)
        #expect(throws: WireError.self) { try Sample(lenient: ["name": 3, "total": nil]) }
    }

    @Test func valuesAreNeverQuotedInErrors() {
        let secret = "s3cr3t-value"
        for json in [
            ["name": .string(secret)], ["name": "cup", "colour": .string(secret)],
            ["name": "cup", "limit": .string(secret)],
        ] as [JSONValue] {
            #expect(fault(json)?.description.contains(secret) == false)
        }
    }

    @Test func theSchemaStatesTheCheckedConstraints() throws {
        var schemas = WireSchemas()
        _ = Sample.schema(in: &schemas)
        let schema = try #require(schemas.components.first { $0.name == "Sample" }?.schema)
        #expect(schema["additionalProperties"] == false)
        #expect(schema["required"] == ["name", "total"])
        let properties = try #require(schema["properties"])
        #expect(
            properties["name"] == [
                "type": "string", "minLength": 1, "maxLength": 5, "description": "Its name.", "examples": ["cup"],
            ])
        #expect(properties["limit"]?["default"] == 100)
        #expect(properties["note"]?["type"] == ["string", "null"])
        #expect(properties["total"]?["type"] == ["integer", "null"])
        #expect(schemas.components.map(\.name) == ["Sample", "SampleColour", "SamplePart"])
    }
}

struct WireScalarTests {
    @Test func integersOutsideTheirTypeAreRefused() {
        #expect(throws: WireError(.outOfRange, expected: "an integer from -2147483648 to 2147483647")) {
            try Int32(strict: .integer(1 << 40))
        }
        #expect(throws: WireError.self) { try UInt32(strict: -1) }
    }

    @Test(arguments: [0, 0.5, 30, 1e300, -2.25, 9_007_199_254_740_994])
    func aWrittenNumberParsesToItself(value: Double) throws {
        #expect(try Double(strict: value.wire) == value)
    }

    @Test func oneValueOrAnArrayIsAccepted() throws {
        #expect(try OneOrMany<Int>(strict: 3).values == [3])
        #expect(try OneOrMany<Int>(strict: [3, 4]).values == [3, 4])
        #expect(OneOrMany([3]).wire == 3)
        #expect(OneOrMany([3, 4]).wire == [3, 4])
        #expect(throws: WireError.self) { try OneOrMany<Int>(strict: ["3"]) }
    }

    @Test func unknownWordsSurviveInOpenEnumerations() throws {
        let value = try OpenEnum<Sample.Colour>(lenient: "mauve")
        #expect(value == .unknown("mauve"))
        #expect(value.wire == "mauve")
        #expect(value.value == nil)
        #expect(throws: WireError.self) { try OpenEnum<Sample.Colour>(strict: "mauve") }
        #expect(try OpenEnum<Sample.Colour>(strict: "red").value == .red)
    }
}
