import StrictJSON

/// Finds what would break a client that was written after an older description of the RPC surface.
///
/// Parameters may only accept more, results and events may only promise more. Words and alternatives may be added on
/// both sides: clients ignore what they do not know.
struct SchemaComparison {
    enum Direction { case input, output }

    /// Named schemas of the two descriptions.
    private let (older, newer): (JSONValue, JSONValue)
    /// Pairs of names whose comparison has begun: schemas may contain themselves.
    private var begun: Set<String> = []

    init(older: JSONValue, newer: JSONValue) { (self.older, self.newer) = (older, newer) }

    /// Each problem with the path of the part that has it; none if the newer schema can stand for the older one.
    mutating func problems(
        _ old: JSONValue, _ new: JSONValue, at path: String, _ direction: Direction
    ) -> [String] {
        if let names = Self.names(old, new), !begun.insert(names).inserted { return [] }
        let (old, new) = (Self.resolved(old, older), Self.resolved(new, newer))
        let alternatives = (Self.alternatives(old), Self.alternatives(new))
        if alternatives != (nil, nil) {
            return (alternatives.0 ?? [old]).enumerated().flatMap { index, old in
                closest(old, among: alternatives.1 ?? [new], at: "\(path)|\(index)", direction)
            }
        }
        // What is valid for `narrow` has to be valid for `wide`.
        let (narrow, wide) = direction == .input ? (old, new) : (new, old)
        var problems = Self.scalarProblems(narrow, wide, at: path, direction)
        if let words = Self.words(new) {
            let keepsAll = Self.words(old).map { $0.allSatisfy(words.contains) }
            if !(keepsAll ?? (direction == .output)) { problems.append("\(path): words") }
        }
        for (name, property) in old["properties"]?.objectValue?.members ?? [] {
            if let other = new["properties"]?[name] {
                problems += self.problems(property, other, at: "\(path).\(name)", direction)
            } else {
                problems.append("\(path).\(name): removed")
            }
        }
        let demanded = Self.demanded(wide).subtracting(Self.demanded(narrow)).sorted()
        problems += demanded.map { "\(path).\($0): \(direction == .input ? "demanded" : "no longer certain")" }
        if wide["additionalProperties"] == false, narrow["additionalProperties"] != false {
            problems.append("\(path): closed")
        }
        if wide["items"] != nil {
            problems += self.problems(old["items"] ?? [:], new["items"] ?? [:], at: "\(path)[]", direction)
        }
        return problems
    }

    private mutating func closest(
        _ old: JSONValue, among alternatives: [JSONValue], at path: String, _ direction: Direction
    ) -> [String] {
        var least: [String]?
        for alternative in alternatives {
            let before = begun
            let found = problems(old, alternative, at: path, direction)
            if found.isEmpty { return [] }
            begun = before
            if found.count < least?.count ?? .max { least = found }
        }
        return least ?? ["\(path): no alternative"]
    }

    private static func scalarProblems(
        _ narrow: JSONValue, _ wide: JSONValue, at path: String, _ direction: Direction
    ) -> [String] {
        var problems: [String] = []
        if !types(narrow).isSubset(of: types(wide)) { problems.append("\(path): type") }
        for key in ["minimum", "minLength", "minItems", "maximum", "maxLength", "maxItems"] {
            // A text that clients may send longer is shown longer, too.
            guard let bound = number(wide[key]), key != "maxLength" || direction == .input else { continue }
            let other = number(narrow[key])
            let isWithin = other.map { key.hasPrefix("min") ? $0 >= bound : $0 <= bound } ?? false
            if !isWithin { problems.append("\(path): \(key)") }
        }
        for key in ["pattern", "format", "not"] where wide[key] != nil && wide[key] != narrow[key] {
            if key == "pattern", isListed(wide, in: narrow) || isListed(narrow, in: wide) { continue }
            if key == "pattern", refusesControls(wide), narrow[key] == nil || refusesControls(narrow) { continue }
            problems.append("\(path): \(key)")
        }
        return problems
    }

    /// Whether the one pattern is for several texts of the other one, with commas between: a list in the place of one
    /// word, as alternatives are.
    private static func isListed(_ one: JSONValue, in list: JSONValue) -> Bool {
        guard let one = one["pattern"]?.stringValue, let list = list["pattern"]?.stringValue else { return false }
        let word = one.dropFirst().dropLast()
        return list == "^ *\(word)( *, *\(word))* *$"
    }

    /// Whether the pattern refuses control characters and nothing else. Later releases refuse more of these in more
    /// texts: one that makes a name look like another was accepted by mistake.
    private static func refusesControls(_ schema: JSONValue) -> Bool {
        schema["pattern"]?.stringValue?.hasPrefix("^[^\\u0000-\\u001f\\u007f") == true
    }

    // MARK: Parts of a schema

    private static func names(_ old: JSONValue, _ new: JSONValue) -> String? {
        guard let old = old["$ref"]?.stringValue, let new = new["$ref"]?.stringValue else { return nil }
        return "\(old) \(new)"
    }

    /// The schema without references; what stands beside one is added.
    private static func resolved(_ schema: JSONValue, _ named: JSONValue) -> JSONValue {
        if let reference = schema["$ref"]?.stringValue, let name = reference.split(separator: "/").last {
            return resolved(named[String(name)] ?? [:], named)
        }
        guard let parts = schema["allOf"]?.arrayValue, parts.count == 1, let first = parts.first,
            var merged = resolved(first, named).objectValue
        else { return schema }
        for (key, value) in schema.objectValue?.members ?? [] where key != "allOf" { merged[key] = value }
        return resolved(.object(merged), named)
    }

    private static func alternatives(_ schema: JSONValue) -> [JSONValue]? {
        (schema["oneOf"] ?? schema["anyOf"])?.arrayValue
    }

    private static func types(_ schema: JSONValue) -> Set<String> {
        guard let type = schema["type"] else {
            return ["null", "boolean", "integer", "number", "string", "array", "object"]
        }
        let names = Set((type.arrayValue ?? [type]).compactMap(\.stringValue))
        return names.contains("number") ? names.union(["integer"]) : names
    }

    private static func words(_ schema: JSONValue) -> [JSONValue]? {
        schema["const"].map { [$0] } ?? schema["enum"]?.arrayValue
    }

    private static func demanded(_ schema: JSONValue) -> Set<String> {
        Set((schema["required"]?.arrayValue ?? []).compactMap(\.stringValue))
    }

    private static func number(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number.value
        default: nil
        }
    }
}
