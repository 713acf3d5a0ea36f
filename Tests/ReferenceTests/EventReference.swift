import StrictJSON
import XferProtocol

/// `docs/reference/events.md`, from the OpenRPC document.
enum EventReference {
    static var text: String {
        let document = OpenRPCDocument.value
        let types = document["x-events"]?["types"]?.arrayValue ?? []
        let schemas = document["components"]?["schemas"]
        var output = title("Events") + introduction
        var table = MarkdownTable("event", "durable", "ends a task", "meaning")
        for type in types {
            let name = type["name"]?.stringValue ?? ""
            table.rows.append([
                "[\(code(name))](#\(anchor(name)))", word(type["durable"]), word(type["terminal"]),
                type["summary"]?.stringValue ?? "",
            ])
        }
        output += table.text + "\n"
        for type in types {
            let reference = type["schema"]?["$ref"]?.stringValue?.split(separator: "/").last.map(String.init) ?? ""
            output += "## \(code(type["name"]?.stringValue ?? ""))\n\n\(type["summary"]?.stringValue ?? "")\n\n"
            guard let schema = schemas?[reference], let properties = schema["properties"]?.objectValue else { continue }
            output += SchemaText.fields(properties, required: schema["required"]).text + "\n"
        }
        return String(output.dropLast())
    }

    private static let introduction = """
        `events.subscribe` streams events, `events.since` and `xferctl events` read them afterwards. A durable event
        has a number (`seq`) and is kept; the others live on a connection only. Each end of a task is
        announced by exactly one event that ends a task.


        """

    /// The anchor that Markdown gives the heading.
    private static func anchor(_ name: String) -> String { name.filter { $0 != "." } }

    private static func word(_ flag: JSONValue?) -> String { flag?.boolValue == true ? "yes" : "no" }
}
