import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// `profiles`: a mapping of names to the fields of `profile.set`.
///
/// Read by the wire's code, so that both have the same fields, limits and errors. The path of a faulty field leads back
/// to its place in the file.
extension SettingForm where Value == [Profile] {
    private static let expectation = "a mapping of names to profiles, each a mapping with base_url, headers, …"

    static let profiles = SettingForm(expected: expectation, isScalar: false) {
        node, context throws(SettingMismatch) in
        guard let members = node.members else { throw SettingMismatch(expected: expectation, found: node) }
        var profiles: Value = []
        for member in members {
            let name = member.key.text ?? ""
            do throws(SettingMismatch) {
                profiles.append(try profile(named: name, member, context))
            } catch {
                throw SettingMismatch(within: name, error)
            }
        }
        return profiles
    } write: { profiles in
        // Secrets are masked here, too; JSON is YAML's flow style.
        var object = JSONObject()
        for profile in profiles {
            guard case .object(var members) = ProfileRecord(profile, origin: .configuration).wire else { continue }
            members["name"] = nil
            members["origin"] = nil
            object[profile.name] = .object(members)
        }
        return JSONValue.object(object).text
    }

    private static func profile(
        named name: String, _ member: ConfigurationNode.Member, _ context: SettingContext
    ) throws(SettingMismatch) -> Profile {
        guard let fields = member.value.members else {
            throw SettingMismatch(expected: "a mapping with base_url, headers, …", found: member.value)
        }
        if let wrong = fields.first(where: { $0.key.text == "name" }) {
            throw SettingMismatch("the profile's name is its key", at: wrong.key)
        }
        guard case .object(var json) = member.value.isNull ? [:] : member.value.json(context) else {
            throw SettingMismatch(expected: "a mapping with base_url, headers, …", found: member.value)
        }
        json["name"] = .string(name)
        do {
            let profile = try ProfileInput(strict: .object(json)).readProfile()
            try ProfileText.check(profile)
            return profile
        } catch let error as WireError {
            let place = error.path.isEmpty || error.path == "name" ? member.key : member.value.node(at: error.path)
            throw SettingMismatch(error.description, at: place)
        } catch let error as ProfileTextError {
            let place = error.field == "name" ? member.key : member.value.node(at: error.field)
            throw SettingMismatch("\(error.field): \(error.description)", at: place)
        } catch {
            throw SettingMismatch("cannot be read", at: member.value)
        }
    }
}

extension ConfigurationNode {
    /// Members whose values are text even where YAML would read a number.
    private static let texts: Set<String> = [
        "accept_status", "http_version", "user", "password", "secret", "region", "service",
    ]
    /// Members whose values are paths, in which `~` means home.
    private static let paths: Set<String> = ["file", "certificate", "key"]
    /// Members that hold header fields.
    private static let headers: Set<String> = ["headers", "set"]

    /// The value as JSON, read by YAML's core schema.
    fileprivate func json(_ context: SettingContext, asText: Bool = false) -> JSONValue {
        switch content {
        case .scalar(let text, let isPlain): isPlain && !asText ? Self.plain(text) : .string(text)
        case .sequence(let nodes): .array(nodes.map { $0.json(context, asText: asText) })
        case .mapping(let members):
            members.reduce(into: JSONValue.object(JSONObject())) { result, member in
                guard case .object(var object) = result, let key = member.key.text else { return }
                object[key] = member.json(context, asText: asText)
                result = .object(object)
            }
        }
    }

    private static func plain(_ text: String) -> JSONValue {
        switch text {
        case "", "~", "null": .null
        case "true": true
        case "false": false
        default: (try? JSONValue(parsing: text.utf8)).flatMap(\.asNumber) ?? .string(text)
        }
    }

    /// The node a field's path leads to: `credential.secret`, `languages[1]`; the deepest that is there.
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

    fileprivate static func isText(_ key: String) -> Bool { texts.contains(key) }
    fileprivate static func isPath(_ key: String) -> Bool { paths.contains(key) }
    fileprivate static func isHeaders(_ key: String) -> Bool { headers.contains(key) }
}

extension ConfigurationNode.Member {
    fileprivate func json(_ context: SettingContext, asText: Bool) -> JSONValue {
        let name = key.text ?? ""
        let isText =
            asText || ConfigurationNode.isText(name) || ConfigurationNode.isHeaders(name)
        if ConfigurationNode.isPath(name), let text = value.text, text.hasPrefix("~/") {
            return .string(context.home + text.dropFirst())
        }
        return value.json(context, asText: isText)
    }
}

extension JSONValue {
    fileprivate var asNumber: JSONValue? {
        switch self {
        case .integer, .number: self
        default: nil
        }
    }
}
