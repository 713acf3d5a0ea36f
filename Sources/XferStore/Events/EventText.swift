import XferModel

/// An event's payload as JSON, in `EventPayload`'s `Codable` form.
///
/// What every task goes through is written by hand: four events a task are a tenth of all the work the store does for a
/// small file, when `JSONEncoder` writes them. A test reads every kind back.
enum EventText {
    static func encode(_ payload: EventPayload) throws(StoreError) -> String {
        var object = JSONObjectText()
        switch payload {
        case .taskAdded(let url, let label, let group):
            object.add("url", url)
            object.add("label", label)
            object.add("group", group)
        case .taskStarted(let attempt, let offset):
            object.add("attempt", Int64(attempt))
            object.add("offset", offset)
        case .taskResponse(let status, let total, let etag, let resumed):
            object.add("status", Int64(status))
            object.add("total", total)
            object.add("etag", etag)
            object.add("resumed", resumed)
        case .taskCompleted(let path, let size, let skipped, let notModified):
            object.add("path", path)
            object.add("size", size)
            object.add("skipped", skipped)
            object.add("notModified", notModified)
        default: return try JSONText.encode(payload)
        }
        return "{\"\(name(of: payload))\":\(object.text)}"
    }

    private static func name(of payload: EventPayload) -> String {
        switch payload {
        case .taskAdded: "taskAdded"
        case .taskStarted: "taskStarted"
        case .taskResponse: "taskResponse"
        default: "taskCompleted"
        }
    }
}

/// A JSON object that grows member by member; nil members are left out.
struct JSONObjectText {
    private var members = ""

    var text: String { "{" + members + "}" }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        begin(name)
        JSONText.append(value, to: &members)
    }

    mutating func add(_ name: String, _ value: Int64?) {
        guard let value else { return }
        begin(name)
        members += String(value)
    }

    mutating func add(_ name: String, _ value: Bool) {
        begin(name)
        members += value ? "true" : "false"
    }

    private mutating func begin(_ name: String) {
        if !members.isEmpty { members += "," }
        members += "\""
        members += name
        members += "\":"
    }
}
