import StrictJSON
import XferModel

/// The body of a webhook's requests for receivers that do not read events: text with fields in braces.
///
/// `{title}: {text}` or `{"content": "{title}: {text}"}`. Only a known name in braces is a field, so that JSON needs no
/// escapes.
public struct WebhookTemplate: Hashable, Sendable {
    /// The escaping of values, so that a name of a file cannot end a string.
    private enum Escaping { case none, json, form }

    private enum Part: Hashable {
        case text(String)
        case field(Field)
    }

    /// A field that a template can contain.
    public enum Field: String, CaseIterable, Sendable {
        /// The event as a title: `Download completed`.
        case title
        /// The file with its length and its warning, or the reason of its failure.
        case text
        /// The file's name, or the one that the task's URL suggests; of a removed task `task 42`.
        case name
        case path
        /// The length with its unit: `8.0 MiB`.
        case size
        case bytes
        /// The reason of a failure, such as `http_status`.
        case reason
        /// The message of a failure.
        case error
        case host
        case task
        case type
        case time
    }

    private let parts: [Part]
    /// The media type that is sent.
    public let contentType: String
    private let escaping: Escaping

    /// - Parameter contentType: nil is JSON for a template that begins as JSON does, else plain text.
    /// - Throws: for a field that does not exist.
    public init(_ text: String, contentType: String? = nil) throws(WebhookTextError) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            let name = rest.prefix { $0.isASCII && ($0.isLowercase || $0 == "_") }
            guard character == "{", !name.isEmpty, rest[name.endIndex...].first == "}" else {
                plain.append(character)
                continue
            }
            guard let field = Field(rawValue: String(name)) else {
                let known = Field.allCases.map(\.rawValue).joined(separator: ", ")
                throw WebhookTextError(description: "there is no field {\(name)}; there are \(known)")
            }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.field(field))
            rest = rest[name.endIndex...].dropFirst()
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
        let beginning = text.prefix(64).filter { !$0.isWhitespace }
        let looksLikeJSON = ["{\"", "[{", "[\""].contains { beginning.hasPrefix($0) }
        self.contentType =
            contentType ?? (looksLikeJSON ? "application/json" : "text/plain; charset=utf-8")
        let media = self.contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
        escaping =
            media == "application/json" || media.hasSuffix("+json")
            ? .json : media == "application/x-www-form-urlencoded" ? .form : .none
    }

    /// The body for an event.
    ///
    /// - Parameters:
    ///   - event: its JSON text, the body without a template.
    ///   - name: the file's name if the event has no path, as that of a failure.
    public func body(for event: String, name: String? = nil) -> String {
        let values = WebhookValues(event, name: name)
        return parts.reduce(into: "") { body, part in
            switch part {
            case .text(let text): body += text
            case .field(let field): body += escaped(values.text(of: field))
            }
        }
    }

    private func escaped(_ text: String) -> String {
        switch escaping {
        case .none: return text
        case .json: return String(JSONValue.string(text).text.dropFirst().dropLast())
        case .form:
            let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._*".utf8)
            return text.utf8.reduce(into: "") { form, byte in
                if plain.contains(byte) {
                    form.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    form += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                }
            }
        }
    }
}

/// The fields of a template for one event.
struct WebhookValues {
    private let event: JSONValue
    private let knownName: String?

    /// - Parameters:
    ///   - event: its JSON text; one that cannot be read has no fields.
    ///   - name: the file's name if the event has no path.
    init(_ event: String, name: String? = nil) {
        self.event = (try? JSONValue(parsing: Array(event.utf8))) ?? .null
        knownName = name
    }

    /// The task of an event without a path; nil if the event has a path or is not about a task.
    var taskWithoutPath: TaskID? {
        string("path").isEmpty ? event["task_id"]?.integerValue.map { TaskID($0) } : nil
    }

    func text(of field: WebhookTemplate.Field) -> String {
        switch field {
        case .title: title
        case .text: summary
        case .name: name
        case .path: string("path")
        case .size: event["size"]?.integerValue.map { ByteText.size($0) } ?? ""
        case .bytes: event["size"]?.integerValue.map { String($0) } ?? ""
        case .reason: event["error"]?["reason"]?.stringValue ?? ""
        case .error: event["error"]?["message"]?.stringValue ?? ""
        case .host: event["error"]?["host"]?.stringValue ?? ""
        case .task: event["task_id"]?.integerValue.map { String($0) } ?? ""
        case .type: string("type")
        case .time: string("time")
        }
    }

    private func string(_ name: String) -> String { event[name]?.stringValue ?? "" }

    private var title: String {
        switch string("type") {
        case "task.completed": "Download completed"
        case "task.failed": "Download failed"
        case "task.cancelled", "task.superseded": "Download cancelled"
        case "task.added": "Download added"
        case "task.started": "Download started"
        case "task.waiting": "Download waits"
        case "task.paused": "Download paused"
        case "task.resumed": "Download resumed"
        case "task.staged": "Download staged"
        case "task.warning": "Download has a warning"
        case "batch.completed": "Batch completed"
        case "webhook.test": "Test of xferd"
        case let type: Self.words(type)
        }
    }

    /// `policy.violation` as `Policy violation`.
    private static func words(_ type: String) -> String {
        let words = type.split { $0 == "." || $0 == "_" }.joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    private var name: String {
        if let last = string("path").split(separator: "/").last { return String(last) }
        return knownName ?? event["task_id"]?.integerValue.map { "task \($0)" } ?? ""
    }

    /// Never empty: some receivers refuse an empty message.
    private var summary: String {
        if string("type") == "webhook.test" { return "Notifications work" }
        let summary = summaryOfEvent
        return summary.isEmpty ? title : summary
    }

    private var summaryOfEvent: String {
        if let message = event["error"]?["message"]?.stringValue { return "\(name): \(message)" }
        if let reason = event["wait"]?["reason"]?.stringValue {
            // An RFC 3339 time, in UTC: the receiver's zone is not known.
            let until = event["wait"]?["until"]?.stringValue.map { time in
                " until \(time.prefix(16).split(separator: "T").joined(separator: " ")) UTC"
            }
            return "\(name): \(reason.split(separator: "_").joined(separator: " "))\(until ?? "")"
        }
        let size = event["size"]?.integerValue.map { " (\(ByteText.size($0)))" } ?? ""
        let warning = event["warning"]?.stringValue.map { ": \($0)" } ?? ""
        return name + size + warning
    }
}
