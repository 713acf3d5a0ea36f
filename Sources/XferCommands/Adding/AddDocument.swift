import StrictJSON
import XferModel
import XferProtocol

/// The document of `add --json`. It has `tasks`, as those of `list`, `show` and `wait`, for one URL and for several.
enum AddDocument {
    /// The answer to a call with one task, with members that this program does not know.
    static func one(_ answer: JSONValue) -> JSONValue {
        var document: JSONObject = ["tasks": .array([answer["task"] ?? .null])]
        for (name, value) in answer.objectValue?.members ?? [] where name != "task" { document[name] = value }
        document["existing"] = .array(answer["existing"] == true ? [.integer(0)] : [])
        return .object(document)
    }

    /// The answers to calls with several tasks, of which only the ids are known.
    static func many(_ answer: TaskAdd.Many) -> JSONObject {
        var document: JSONObject = ["tasks": .array(answer.ids.map { ["id": .integer($0.rawValue)] })]
        for (name, value) in answer.wire.objectValue?.members ?? [] where name != "ids" { document[name] = value }
        return document
    }
}
