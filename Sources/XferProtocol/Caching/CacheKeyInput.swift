public import StrictJSON
public import XferModel

/// The cache's form of a URL: a replacing text, or the parts that are ignored.
public struct CacheKeyInput: WireValue, Hashable {
    public var rule: CacheKeyRule

    public init(_ rule: CacheKeyRule) { self.rule = rule }

    /// Creates the rule for showing: a text may be a URL with secrets.
    public init(masking rule: CacheKeyRule) {
        self.rule = rule.text.map { CacheKeyRule(text: Redaction.text($0)) } ?? rule
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .string(let text):
            guard (1...TaskLimits.urlLength).contains(text.count) else {
                throw WireError(.outOfRange, expected: "1 to \(TaskLimits.urlLength) characters")
            }
            rule = CacheKeyRule(text: text)
        case .object:
            rule = try CacheKeyRecord(wire: value, mode: mode).rule
        default:
            throw .wrongType(expected: "a text, or an object with ignore_query, ignore_params or host")
        }
    }

    public var wire: JSONValue { rule.text.map { .string($0) } ?? CacheKeyRecord(rule).wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "CacheKey") { schemas in
            [
                "description":
                    "Key of a URL in the cache: a text that replaces the URL, or the parts of the URL to ignore.",
                "oneOf": [
                    ["type": "string", "minLength": 1, "maxLength": .integer(Int64(clamping: TaskLimits.urlLength))],
                    CacheKeyRecord.schema(in: &schemas),
                ],
            ]
        }
    }
}

/// The parts of URLs that the cache ignores: URLs that differ only in them are the same.
public struct CacheKeyRecord: WireInput, Hashable {
    public var ignoreQuery: Bool?
    public var ignoreParams: [String]?
    public var host: String?

    public init() {}

    public init(_ rule: CacheKeyRule) {
        ignoreQuery = rule.ignoresQuery ? true : nil
        ignoreParams = rule.ignoredParameters.isEmpty ? nil : rule.ignoredParameters
        host = rule.host
    }

    public var rule: CacheKeyRule {
        CacheKeyRule(ignoresQuery: ignoreQuery ?? false, ignoredParameters: ignoreParams ?? [], host: host)
    }

    public static let summary = "Parts of URLs that the cache ignores; URLs that differ only in them are the same."
    public static let wireFields: WireFields<Self> = [
        .optional("ignore_query", \.ignoreQuery, "Ignore the whole query."),
        .optional(
            "ignore_params", \.ignoreParams,
            "Names of query parameters to ignore, spelled as in the URL; a * at the end matches any suffix.",
            .count(0...64), example: ["token", "X-Amz-*"]),
        .optional(
            "host", \.host,
            "A name that replaces scheme, host and port, so that mirrors of the same files share entries.",
            .length(1...255), .visible, example: "debian-mirrors"),
    ]
}
