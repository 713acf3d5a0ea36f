import StrictJSON
import XferModel
import XferProtocol

/// Reads mappings of the configuration as records of the wire, so that file and RPC have the same fields and limits.
///
/// The record's schema decides which keys are known, which scalars are text although YAML would read a number, and
/// which texts are absolute paths. Every fault has the position of its part.
struct RecordForm<Record: WireRecord>: Sendable {
    typealias Reader = @Sendable (ConfigurationNode, SettingContext) throws(SettingMismatch) -> JSONValue

    /// Accepted values, to follow the word "expected".
    let expected: String
    /// The members that may be written.
    let fields: [(name: String, documentation: String)]
    /// The field that is not written in the mapping, because its value is the mapping's key.
    private let key: String?
    /// Readers of the fields that the file writes in another form than the wire, by path.
    private let readers: [String: Reader]
    /// Values of required fields that the file may leave out.
    private let defaults: JSONObject
    /// True if errors may repeat a scalar: not where it may be a secret.
    private let quotesScalars: Bool
    private let schema: JSONValue
    private let components: [String: JSONValue]

    init(
        keyedBy key: String? = nil, defaults: JSONObject = [:], quotesScalars: Bool = true,
        readers: [String: Reader] = [:]
    ) {
        self.key = key
        self.defaults = defaults
        self.quotesScalars = quotesScalars
        self.readers = readers
        var schemas = WireSchemas()
        schema = Record.schema(in: &schemas)
        components = Dictionary(
            uniqueKeysWithValues: schemas.components.map { ("#/components/schemas/\($0.name)", $0.schema) })
        fields = Record.wireFields.filter { $0.name != key }.map { ($0.name, $0.documentation) }
        let names = fields.map(\.name)
        expected = "a mapping with " + names.prefix(4).joined(separator: ", ") + (names.count > 4 ? ", …" : "")
    }

    /// Reads a mapping of names to records.
    func readAll<Value>(
        _ node: ConfigurationNode, _ context: SettingContext, expected: String,
        _ make: (ConfigurationNode.Member, Record) throws(SettingMismatch) -> Value
    ) throws(SettingMismatch) -> [Value] {
        guard let members = node.members else { throw SettingMismatch(expected: expected, found: node) }
        var values: [Value] = []
        for member in members {
            do throws(SettingMismatch) {
                values.append(try make(member, try read(member.value, at: member.key, context)))
            } catch {
                throw error.within(member.key.text ?? "?")
            }
        }
        return values
    }

    /// Reads one mapping.
    /// - Parameter name: the node of the mapping's key; faults that do not belong to a single part have its position.
    func read(
        _ node: ConfigurationNode, at name: ConfigurationNode? = nil, _ context: SettingContext
    ) throws(SettingMismatch) -> Record {
        guard node.members != nil else { throw SettingMismatch(expected: expected, found: node) }
        let written = node.isNull ? [:] : try json(node, schema, path: "", context)
        var object = defaults
        for (key, value) in written.objectValue?.members ?? [] { object[key] = value }
        if let key { object[key] = .string(name?.text ?? "") }
        do throws(WireError) {
            return try Record(strict: .object(object))
        } catch {
            throw mismatch(error, node, name)
        }
    }

    /// A fault of the field at a path.
    func mismatch(
        _ path: String, _ message: String, _ node: ConfigurationNode, at name: ConfigurationNode? = nil
    ) -> SettingMismatch {
        let place = path.isEmpty || path == key ? name ?? node : node.node(at: path)
        return SettingMismatch(message, at: place).within(path)
    }

    private func mismatch(
        _ error: WireError, _ node: ConfigurationNode, _ name: ConfigurationNode?
    ) -> SettingMismatch {
        if error.reason == .missing {
            let parent = error.path.lastIndex(of: ".").map { String(error.path[..<$0]) } ?? ""
            let field = error.path.split(separator: ".").last.map(String.init) ?? ""
            return mismatch(parent, "\(field) is missing\(purpose(of: error.path))", node, at: name)
        }
        let found = error.path == key ? name ?? node : node.node(at: error.path)
        let quoted = quotesScalars || found.text == nil || found.isNull ? ", found \(found.summary)" : ""
        var expected = error.expected
        if error.reason == .unknownValue, let words = words(at: error.path) { expected = words }
        return mismatch(error.path, "expected \(expected)\(quoted)", node, at: name)
    }

    /// Returns the allowed values of a field that has a fixed list.
    private func words(at path: String) -> String? {
        let words = alternatives(of: schema(at: path)).compactMap { $0["enum"]?.arrayValue }.flatMap(\.self)
        return words.isEmpty ? nil : SettingMismatch.choice(of: words.compactMap(\.stringValue))
    }

    /// The first sentence of the field's documentation, as the end of an error.
    private func purpose(of path: String) -> String {
        guard let text = schema(at: path)["description"]?.stringValue else { return "" }
        let sentence = text.firstRange(of: ". ").map { text[..<$0.lowerBound] } ?? text[...]
        let rest = sentence.dropFirst(1).dropLast(sentence.last == "." ? 1 : 0)
        return ": expected " + sentence.prefix(1).lowercased() + rest
    }

    /// The schema of a part of the record.
    private func schema(at path: String) -> JSONValue {
        var found = schema
        for step in path.split(whereSeparator: { ".[".contains($0) }) {
            let parts = alternatives(of: found)
            found =
                step.hasSuffix("]")
                ? parts.lazy.compactMap { $0["items"] }.first ?? [:]
                : parts.lazy.compactMap { $0["properties"]?[String(step)] }.first ?? [:]
        }
        return found
    }

    // MARK: JSON

    /// The node as JSON for a schema; the record refuses values that the schema does not admit.
    private func json(
        _ node: ConfigurationNode, _ schema: JSONValue, path: String, _ context: SettingContext
    ) throws(SettingMismatch) -> JSONValue {
        if let reader = readers[path] {
            do throws(SettingMismatch) { return try reader(node, context) } catch { throw error.within(path) }
        }
        let admitted = alternatives(of: schema)
        switch node.content {
        case .scalar(let text, let isPlain):
            return scalar(text, isPlain: isPlain, admitted, context)
        case .sequence(let nodes):
            let items = admitted.lazy.compactMap { $0["items"] }.first ?? [:]
            var values: [JSONValue] = []
            for (index, node) in nodes.enumerated() {
                values.append(try json(node, items, path: "\(path)[\(index)]", context))
            }
            return .array(values)
        case .mapping(let members):
            let properties = admitted.lazy.compactMap { $0["properties"]?.objectValue }.first
            let others = admitted.lazy.compactMap { $0["additionalProperties"] }.first ?? [:]
            var object = JSONObject()
            for member in members {
                let name = member.key.text ?? ""
                let inner = path.isEmpty ? name : "\(path).\(name)"
                if let properties, properties[name] == nil || inner == key {
                    let known = properties.members.map(\.key).filter { $0 != key || !path.isEmpty }
                    let message =
                        inner == key ? "the \(name) is the mapping's key" : Self.unknown(name, among: known)
                    throw SettingMismatch(message, at: member.key).within(inner)
                }
                object[name] = try json(member.value, properties?[name] ?? others, path: inner, context)
            }
            return .object(object)
        }
    }

    /// The message for an unknown member, which may be a setting of its own.
    private static func unknown(_ name: String, among known: [String]) -> String {
        let setting = SettingKey.all.first { $0.name == name && $0.section != $0.path }
        if let setting, Suggestion.nearest(to: name, among: known) == nil {
            return "unknown key here, did you mean the setting \(setting.path)?"
        }
        return Suggestion.unknown(name, among: known)
    }

    /// A scalar by YAML's core schema; a number is text where only text is admitted.
    private func scalar(
        _ text: String, isPlain: Bool, _ admitted: [JSONValue], _ context: SettingContext
    ) -> JSONValue {
        let types = admitted.compactMap { $0["type"]?.stringValue }
        guard types.contains("string") else { return isPlain ? Self.plain(text) : .string(text) }
        if isPlain, types.contains("integer") || types.contains("number"), let number = Self.number(text) {
            return number
        }
        let isPath = admitted.contains { $0["pattern"] == "^/" }
        return .string(isPath && text.hasPrefix("~/") ? context.home + text.dropFirst() : text)
    }

    private static func plain(_ text: String) -> JSONValue {
        switch text {
        case "", "~", "null": .null
        case "true": true
        case "false": false
        default: number(text) ?? .string(text)
        }
    }

    private static func number(_ text: String) -> JSONValue? {
        switch try? JSONValue(parsing: text.utf8) {
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        default: nil
        }
    }

    /// The schemas of which a value has to satisfy one, with references resolved.
    private func alternatives(of schema: JSONValue) -> [JSONValue] {
        if let name = schema["$ref"]?.stringValue { return components[name].map { alternatives(of: $0) } ?? [] }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let parts = schema[keyword]?.arrayValue { return parts.flatMap { alternatives(of: $0) } }
        }
        return [schema]
    }

    // MARK: Writing

    /// The record in the form of the file.
    func write(_ record: Record) -> String {
        guard case .object(var object) = record.wire else { return "{}" }
        if let key { object[key] = nil }
        return YAMLText.flow(.object(object))
    }

    /// A mapping of names to records in the form of the file.
    func writeAll(_ records: [(name: String, record: Record)]) -> String {
        "{" + records.map { "\(YAMLText.quoted($0.name)): \(write($0.record))" }.joined(separator: ", ") + "}"
    }
}

extension ConfigurationNode {
    /// The node a field's path leads to: `credential.secret`, `languages[1]`; the deepest existing node.
    fileprivate func node(at path: String) -> ConfigurationNode {
        var node = self
        for step in path.split(whereSeparator: { ".[".contains($0) }) {
            switch node.content {
            case .mapping(let members):
                guard let member = members.first(where: { $0.key.text.map { $0[...] } == step }) else { return node }
                node = member.value.position == nil ? member.key : member.value
            case .sequence(let nodes):
                guard let index = Int(step.prefix { $0 != "]" }, radix: 10), nodes.indices.contains(index) else {
                    return node
                }
                node = nodes[index]
            case .scalar: return node
            }
        }
        return node
    }
}
