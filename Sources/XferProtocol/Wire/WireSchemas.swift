public import StrictJSON

/// Collects the named JSON Schemas of a document while types describe themselves.
public struct WireSchemas: Sendable {
    /// The schemas by name, in the order of their first mention.
    public private(set) var components: [(name: String, schema: JSONValue)] = []

    public init() {}

    /// A reference to the named schema, which is built at its first mention.
    @inline(never)
    public mutating func reference(
        to name: String, build: (inout WireSchemas) -> JSONValue
    ) -> JSONValue {
        if !components.contains(where: { $0.name == name }) {
            let index = components.count
            components.append((name, .null))
            components[index].schema = build(&self)
        }
        return ["$ref": .string("#/components/schemas/\(name)")]
    }

    /// A reference to the schema of a record with these fields.
    ///
    /// It has values as parameters and no closure: the compiler makes a function anew for each closure that it is
    /// called with, and there is one for each record.
    @inline(never)
    mutating func reference(
        to name: String, fields: FieldTable, _ summary: String, isInput: Bool
    ) -> JSONValue {
        reference(to: name) { fields.schema(summary, isInput: isInput, in: &$0) }
    }

    /// A reference to the schema of a string that is one of these names.
    @inline(never)
    mutating func reference(to name: String, words: [String]) -> JSONValue {
        reference(to: name) { _ in SchemaText.word(of: words) }
    }

    /// The type's name with those it is nested in, without its module: `TaskAdd.Result` is `TaskAddResult`.
    ///
    /// `String(reflecting:)` gives the same name, but first tries to cast the type to several protocols, which searches
    /// all conformances of the program: 13 ms of each start.
    @inline(never)
    static func name(of type: Any.Type) -> String {
        _typeName(type, qualified: true).split(separator: ".").dropFirst().joined()
    }
}

/// The text of a field's schema: its type's schema and the field's own keywords.
enum SchemaText {
    /// The schema of an array.
    @inline(never)
    static func array(of element: JSONValue) -> JSONValue { ["type": "array", "items": element] }

    /// The schema of a value that has one of two forms.
    @inline(never)
    static func either(_ first: JSONValue, _ second: JSONValue) -> JSONValue { ["anyOf": [first, second]] }

    /// The schema of a string that is one of these names.
    @inline(never)
    static func word(of words: [String]) -> JSONValue {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }

    /// `base` with a default value.
    @inline(never)
    static func defaulting(_ base: JSONValue, to value: JSONValue) -> JSONValue {
        extending(base, with: ["default": value])
    }

    /// `base` with more keywords. Draft 7 ignores keywords next to `$ref`, so a reference is wrapped.
    @inline(never)
    static func extending(_ base: JSONValue, with keywords: JSONObject) -> JSONValue {
        guard !keywords.members.isEmpty else { return base }
        var object = JSONObject()
        if base["$ref"] != nil {
            object.append(newKey: "allOf", [base])
        } else if case .object(let members) = base {
            object = members
        }
        for (key, value) in keywords.members { object[key] = value }
        return .object(object)
    }

    /// The schema of `base` or `null`.
    @inline(never)
    static func nullable(_ base: JSONValue) -> JSONValue {
        if case .object(var object) = base, let type = object["type"]?.stringValue, object["enum"] == nil {
            object["type"] = [.string(type), "null"]
            return .object(object)
        }
        return ["anyOf": [base, ["type": "null"]]]
    }
}
