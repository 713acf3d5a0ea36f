import StrictJSON
import XferModel

/// An event's payload as JSON, in `EventPayload`'s `Codable` form.
///
/// The frequent events are written by hand: with `JSONEncoder`, the four events of a task would be a tenth of the
/// store's work for a small file, and those of verbs over many tasks a third of it. A test reads every kind back.
///
/// A series of several events is an array of payloads.
enum EventText {
    static func encode(_ series: [EventPayload]) throws(StoreError) -> String {
        if series.count == 1 { return try encode(series[0]) }
        var text = "["
        for payload in series {
            if text.utf8.count > 1 { text += "," }
            text += try encode(payload)
        }
        return text + "]"
    }

    /// The payloads of a row; nil if they cannot be read or have another number.
    static func decode(_ text: String, count: Int64) -> [EventPayload]? {
        if count == 1 { return JSONText.decode(EventPayload.self, from: text).map { [$0] } }
        return JSONText.decode([EventPayload].self, from: text).flatMap {
            Int64(clamping: $0.count) == count ? $0 : nil
        }
    }

    static func encode(_ payload: EventPayload) throws(StoreError) -> String {
        var object = JSONObjectText()
        switch payload {
        case .taskAdded(let url, let label, let group):
            object.add("url", url)
            object.add("label", label)
            object.add("group", group)
        case .taskStarted(let attempt, let offset):
            object.add("attempt", Int64(clamping: attempt))
            object.add("offset", offset)
        case .taskResponse(let status, let total, let etag, let resumed):
            object.add("status", Int64(clamping: status))
            object.add("total", total)
            object.add("etag", etag)
            object.add("resumed", resumed)
        case .taskCompleted(let path, let size, let skipped, let notModified, let warning):
            object.add("path", path)
            object.add("size", size)
            object.add("skipped", skipped)
            object.add("notModified", notModified)
            object.add("warning", warning)
        case .taskPaused(let received): object.add("received", received)
        case .taskResumed, .taskCancelled, .taskRemoved: break
        default: return try JSONText.encode(payload)
        }
        return object.text(named: name(of: payload))
    }

    private static func name(of payload: EventPayload) -> StaticString {
        switch payload {
        case .taskAdded: "taskAdded"
        case .taskStarted: "taskStarted"
        case .taskResponse: "taskResponse"
        case .taskPaused: "taskPaused"
        case .taskResumed: "taskResumed"
        case .taskCancelled: "taskCancelled"
        case .taskRemoved: "taskRemoved"
        default: "taskCompleted"
        }
    }
}

/// A JSON object that grows member by member; nil members are left out. Bytes, since adding to a `String` costs more
/// than the insertion of an event.
struct JSONObjectText {
    private var members: [UInt8] = []

    init() { members.reserveCapacity(240) }

    /// The object as the one member of another.
    func text(named name: StaticString) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(members.count + name.utf8CodeUnitCount + 8)
        text.append(contentsOf: "{\"".utf8)
        text.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        text.append(contentsOf: "\":{".utf8)
        text.append(contentsOf: members)
        text.append(contentsOf: "}}".utf8)
        return String(decoding: text, as: UTF8.self)
    }

    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        members.appendJSON(value)
    }

    mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        begin(name)
        members.append(contentsOf: String(value).utf8)
    }

    mutating func add(_ name: StaticString, _ value: Bool) {
        begin(name)
        members.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    private mutating func begin(_ name: StaticString) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        members.append(UInt8(ascii: "\""))
        members.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        members.append(contentsOf: "\":".utf8)
    }
}
