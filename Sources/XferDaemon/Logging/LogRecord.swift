import Logging
import StrictJSON
import XferModel

/// One log message. The initialiser masks secrets; `line` escapes control characters.
struct LogRecord {
    let time: Timestamp
    let level: Logger.Level
    let label: String
    let message: String
    /// The fields, sorted by key so that lines can be compared.
    let fields: [(key: String, value: String)]

    init(time: Timestamp, level: Logger.Level, label: String, message: String, metadata: Logger.Metadata) {
        self.time = time
        self.level = level
        self.label = label
        self.message = LogRedaction.text(message)
        fields = metadata.sorted { $0.key < $1.key }.map {
            (key: $0.key, value: LogRedaction.value($0.value, of: $0.key))
        }
    }

    /// The form in which a record is written as text.
    enum Form {
        /// Text for people, with time and level.
        case text
        /// Text for the journal's stream, with the priority before it.
        case journal
        /// An object.
        case json
        /// Text for the journal's socket, which has fields for time and priority.
        case plain
    }

    /// The message in a form, without a line break at the end.
    func line(_ form: Form) -> String {
        switch form {
        case .text: "\(time) \(level.rawValue.padded(to: 8)) \(line(.plain))"
        case .journal: "<\(level.syslogPriority)>\(line(.plain))"
        case .plain: "\(label): \(Self.escaped(message))\(fieldsText)"
        case .json: json.text
        }
    }

    private var fieldsText: String {
        fields.map { field in
            let value = Self.escaped(field.value)
            let isBare = !value.isEmpty && !value.contains { $0 == " " || $0 == "\"" || $0 == "=" }
            let shown = isBare ? value : "\"" + value.replacingQuotes + "\""
            return " \(Self.escaped(field.key))=\(shown)"
        }.joined()
    }

    private var json: JSONValue {
        var object: JSONObject = [
            "time": .string(time.description), "level": .string(level.rawValue), "logger": .string(label),
            "message": .string(message),
        ]
        if !fields.isEmpty {
            var members = JSONObject()
            for field in fields { members[field.key] = Self.json(field.value, of: field.key) }
            object["fields"] = .object(members)
        }
        return .object(object)
    }

    /// The fields that are numbers in the form `json`.
    private static let numericFields: Set<String> = [
        "attempts", "bytes", "bytes_per_second", "count", "holds", "incarnation", "limit", "operation", "owner", "pid",
        "seconds", "task", "transfer", "tries", "uid",
    ]

    private static func json(_ value: String, of key: String) -> JSONValue {
        guard numericFields.contains(key), let number = try? JSONValue(parsing: Array(value.utf8)) else {
            return .string(value)
        }
        return switch number {
        case .integer, .number: number
        default: .string(value)
        }
    }

    /// Escapes control characters, so that a message is one line and cannot control a terminal.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case let scalar where scalar.properties.generalCategory == .control:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Logger.Level {
    /// The priority of syslog(3), which the journal reads as `<N>` at the beginning of a line.
    var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate var replacingQuotes: String { map { $0 == "\"" ? "\\\"" : String($0) }.joined() }
}

/// Masks secrets in all log messages, so that the code that logs need not do it.
enum LogRedaction {
    /// The text with the user info and secret parameters of every URL in it masked.
    static func text(_ text: String) -> String {
        Redaction.text(text)
    }

    /// A metadata value as text, masked if its key suggests a secret (`authorization`, `*-token`, `*-key`, `password`,
    /// `*secret*`, …).
    static func value(_ value: Logger.MetadataValue, of key: String) -> String {
        if isSecret(key) { return Redaction.mask }
        return switch value {
        case .string(let string): text(string)
        case .stringConvertible(let convertible): text(convertible.description)
        case .array(let values): "[" + values.map { Self.value($0, of: key) }.joined(separator: ", ") + "]"
        case .dictionary(let values):
            "{"
                + values.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.value($0.value, of: $0.key))" }
                .joined(separator: ", ") + "}"
        }
    }

    /// Applies the rule for header names. The rule for URL parameters is wider: it would mask `signal` and `keys`, too.
    private static func isSecret(_ key: String) -> Bool {
        let dashed = key.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
        return Redaction.isSecretHeader(dashed)
    }
}
