import StrictJSON
import XferProtocol

/// `docs/reference/rpc.md`, from the OpenRPC document.
enum RPCReference {
    static var text: String {
        let document = OpenRPCDocument.value
        var output = title("JSON-RPC methods and types")
        output += (document["info"]?["description"]?.stringValue ?? "") + "\n\n"
        output += "`rpc-schema/openrpc.json` has the same for programs, with examples of results.\n\n"
        var namespace = ""
        for method in document["methods"]?.arrayValue ?? [] {
            let name = method["name"]?.stringValue ?? ""
            let prefix = String(name.prefix { $0 != "." })
            if prefix != namespace {
                namespace = prefix
                output += "## \(code(prefix + ".*"))\n\n"
            }
            output += describe(method, name)
        }
        output += "## Types\n\n"
        for (name, schema) in document["components"]?["schemas"]?.objectValue?.members ?? [] {
            output += describe(schema, type: name)
        }
        return String(output.dropLast())
    }

    private static func describe(_ method: JSONValue, _ name: String) -> String {
        var output = "### \(code(name))\n\n\(method["summary"]?.stringValue ?? "")\n\n"
        var table = MarkdownTable("parameter", "type", "meaning")
        for parameter in method["params"]?.arrayValue ?? [] {
            let isRequired = parameter["required"]?.boolValue == true
            table.rows.append([
                code(parameter["name"]?.stringValue ?? ""),
                SchemaText.type(parameter["schema"] ?? .null) + (isRequired ? ", required" : ""),
                SchemaText.meaning(parameter["schema"] ?? .null, parameter["description"]),
            ])
        }
        if !table.rows.isEmpty { output += table.text + "\n" }
        output += "Result: \(SchemaText.type(method["result"]?["schema"] ?? .null)).\n"
        let errors = (method["errors"]?.arrayValue ?? []).compactMap { $0["$ref"]?.stringValue }
            .map { code(String($0.split(separator: "/").last ?? "")) }
        let access = method["x-access"]?.stringValue.flatMap(MethodAccess.init)?.summary ?? ""
        output += "Callers: \(access). Scope: \(code(method["x-scope"]?.stringValue ?? "")).\n"
        output += "Errors: \(errors.joined(separator: ", ")).\n\n"
        return output
    }

    private static func describe(_ schema: JSONValue, type name: String) -> String {
        var output = "### \(code(name))\n\n"
        if let text = schema["description"]?.stringValue { output += text + "\n\n" }
        guard let properties = schema["properties"]?.objectValue else {
            return output + SchemaText.type(schema) + ".\n\n"
        }
        let table = SchemaText.fields(properties, required: schema["required"])
        return output + (table.rows.isEmpty ? "No fields.\n\n" : table.text + "\n")
    }
}
