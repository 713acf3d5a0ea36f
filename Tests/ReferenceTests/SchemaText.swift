import StrictJSON
import XferProtocol

/// JSON schemas in words, with links to the types they name.
enum SchemaText {
    /// Rows for the properties of an object.
    static func fields(_ properties: JSONObject, required: JSONValue?) -> MarkdownTable {
        let required = Set(required?.arrayValue?.compactMap(\.stringValue) ?? [])
        var table = MarkdownTable("field", "type", "meaning")
        for (name, schema) in properties.members {
            table.rows.append([
                code(name), type(schema) + (required.contains(name) ? ", required" : ""),
                meaning(schema),
            ])
        }
        return table
    }

    /// A field's documentation, and which values guests may not give.
    static func meaning(_ schema: JSONValue, _ documentation: JSONValue? = nil) -> String {
        let access = schema["x-access"]?.stringValue.flatMap(FieldAccess.init)
        return [(documentation ?? schema["description"])?.stringValue, access?.summary].compactMap(\.self)
            .joined(separator: " ")
    }

    /// A schema's type and bounds.
    static func type(_ schema: JSONValue) -> String {
        if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
            return "[\(code(String(name)))](rpc.md#\(name.lowercased()))"
        }
        for (key, joint) in [("allOf", " and "), ("oneOf", " or "), ("anyOf", " or ")] {
            if let parts = schema[key]?.arrayValue { return parts.map(type).joined(separator: joint) }
        }
        if let constant = schema["const"] { return code(constant.text) }
        if let words = schema["enum"]?.arrayValue { return words.map { code($0.text) }.joined(separator: ", ") }
        let names = schema["type"]?.arrayValue?.compactMap(\.stringValue) ?? [schema["type"]?.stringValue ?? "any JSON"]
        return names.map { named($0, schema) }.joined(separator: " or ")
    }

    private static func named(_ name: String, _ schema: JSONValue) -> String {
        switch name {
        case "array":
            let items = schema["items"].map { " of \(type($0))" } ?? ""
            return "array\(items)\(range(schema["minItems"], schema["maxItems"]))"
        case "string":
            let format = schema["format"]?.stringValue.map { ", \($0)" } ?? ""
            return "string\(range(schema["minLength"], schema["maxLength"]))\(format)"
        case "integer", "number": return name + range(schema["minimum"], schema["maximum"])
        case "object":
            let values = schema["additionalProperties"].flatMap { $0.objectValue == nil ? nil : " of \(type($0))" }
            return name + (values ?? "")
        default: return name
        }
    }

    private static func range(_ least: JSONValue?, _ most: JSONValue?) -> String {
        switch (least, most) {
        case (nil, nil): ""
        case (let least?, nil): " from \(bound(least))"
        case (nil, let most?): " up to \(bound(most))"
        case (let least?, let most?): " (\(bound(least)) … \(bound(most)))"
        }
    }

    /// The bounds of every integer and of every id are powers of two.
    private static func bound(_ value: JSONValue) -> String {
        switch value.integerValue {
        case 1 << 60: "2^60"
        case -(1 << 60): "-2^60"
        case 1 << 53: "2^53"
        default: value.text
        }
    }
}
