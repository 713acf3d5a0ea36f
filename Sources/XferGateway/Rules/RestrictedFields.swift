import StrictJSON
import XferProtocol

/// Finds fields that only a token with the scope `operate` may set: hooks, webhooks, and the paths of files that the
/// server reads. The service itself refuses the fields that are for operators only.
///
/// The fields follow from the declarations of `XferProtocol`, so a new one is restricted from its first day.
struct RestrictedFields: Sendable {
    /// A part of the parameters that is restricted or contains restricted parts.
    private indirect enum Node: Sendable {
        case restricted
        case object([String: Node])
        case list(Node)
    }

    private let methods: [String: Node]
    /// The fields that change a task that exists: with a slot the new task cancels the one in it.
    private let replacing: [String: Node] = {
        let task = Node.object(["slot": .restricted])
        return [TaskAdd.name: task, BatchAdd.name: .object(["tasks": .list(task), "options": task])]
    }()

    /// Places to write to stay beneath the user's roots, so they are not restricted.
    private static let places: Set<String> = ["dir", "output"]
    private static let accesses: Set<String> = [FieldAccess.ownFiles.rawValue, FieldAccess.guestHooks.rawValue]

    init(methods: [any RPCMethod.Type] = MethodRegistry.all) {
        var found: [String: Node] = [:]
        for method in methods {
            if let node = Self.parameters(of: method) { found[method.name] = node }
        }
        // The schema of a batch's entries says only that they are as in task.add.
        if found[BatchAdd.name] == nil, let task = found[TaskAdd.name] {
            found[BatchAdd.name] = .object(["tasks": .list(task), "options": task])
        }
        self.methods = found
    }

    /// The path of the first restricted field in the parameters of a call; nil if there is none.
    func first(in params: JSONValue?, of method: String) -> String? {
        guard let node = methods[method], let params else { return nil }
        return Self.first(in: params, node, path: "")
    }

    /// The path of the first field of a call by which an added task would change another one; nil if there is none.
    func firstReplacing(in params: JSONValue?, of method: String) -> String? {
        guard let node = replacing[method], let params else { return nil }
        return Self.first(in: params, node, path: "")
    }

    /// The restricted fields of each method, as `task.add: parts[].file`.
    var all: [String] {
        methods.flatMap { method, node in Self.paths(node, "").map { "\(method): \($0)" } }.sorted()
    }

    private static func paths(_ node: Node, _ path: String) -> [String] {
        switch node {
        case .restricted: [path]
        case .object(let members): members.flatMap { paths($1, path.isEmpty ? $0 : "\(path).\($0)") }
        case .list(let items): paths(items, path + "[]")
        }
    }

    private static func first(in value: JSONValue, _ node: Node, path: String) -> String? {
        switch node {
        case .restricted:
            return value.isNull ? nil : path
        case .object(let members):
            for (key, member) in value.objectValue?.members ?? [] {
                guard let node = members[key] else { continue }
                let inner = path.isEmpty ? key : "\(path).\(key)"
                if let found = first(in: member, node, path: inner) { return found }
            }
        case .list(let items):
            for (index, item) in (value.arrayValue ?? []).enumerated() {
                if let found = first(in: item, items, path: "\(path)[\(index)]") { return found }
            }
        }
        return nil
    }

    // MARK: From schemas

    private static func parameters<Method: RPCMethod>(of method: Method.Type) -> Node? {
        var schemas = WireSchemas()
        let parameters = Method.Params.parameters(in: &schemas)
        let components = Dictionary(
            uniqueKeysWithValues: schemas.components.map { ("#/components/schemas/\($0.name)", $0.schema) })
        var members: [String: Node] = [:]
        for parameter in parameters {
            members[parameter.name] = node(parameter.schema, named: parameter.name, components, depth: 0)
        }
        return members.isEmpty ? nil : .object(members)
    }

    /// The deepest nesting of a schema; a deeper one would be recursive, and no parameter is.
    private static let maxDepth = 12

    private static func node(
        _ schema: JSONValue, named name: String, _ components: [String: JSONValue], depth: Int
    ) -> Node? {
        guard depth < maxDepth else { return nil }
        if let access = schema["x-access"]?.stringValue, accesses.contains(access), !places.contains(name) {
            return .restricted
        }
        if let reference = schema["$ref"]?.stringValue, let target = components[reference] {
            return node(target, named: name, components, depth: depth + 1)
        }
        var members: [String: Node] = [:]
        for (key, property) in schema["properties"]?.objectValue?.members ?? [] {
            members[key] = node(property, named: key, components, depth: depth + 1)
        }
        var found: Node? = members.isEmpty ? nil : .object(members)
        if let items = schema["items"], let inner = node(items, named: name, components, depth: depth + 1) {
            found = merge(found, .list(inner))
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in schema[keyword]?.arrayValue ?? [] {
                found = merge(found, node(part, named: name, components, depth: depth + 1))
            }
        }
        return found
    }

    private static func merge(_ left: Node?, _ right: Node?) -> Node? {
        switch (left, right) {
        case (nil, let only), (let only, nil): only
        case (.object(let left)?, .object(let right)?):
            .object(left.merging(right) { merge($0, $1) ?? $0 })
        case (.list(let left)?, .list(let right)?): .list(merge(left, right) ?? left)
        // A form that may be several kinds of JSON is restricted as a whole, rather than not at all.
        default: .restricted
        }
    }
}
