public import StrictJSON
public import XferModel

/// What a request sends, in one of five forms.
public struct BodyInput: WireInput, Hashable {
    public var form: JSONObject?
    /// `null` is JSON, too.
    public var json = Patch<JSONValue>.unchanged
    public var raw: String?
    public var base64: Base64Text?
    public var file: String?

    public init() {}

    public static let summary = "What a request sends, in exactly one of these forms."
    public static let wireFields: WireFields<Self> = [
        .optional(
            "form", \.form, "A form (application/x-www-form-urlencoded), encoded as params are; {} is an empty one.",
            example: ["name": "Ada", "tags": ["a", "b"]]),
        .patch("json", \.json, "Any JSON; Content-Type is application/json unless headers has one."),
        .optional("raw", \.raw, "Text, sent as UTF-8; headers say what it is."),
        .optional("base64", \.base64, "Bytes; headers say what they are."),
        .optional(
            "file", \.file, "Absolute path of a file that is streamed; it must not change before it was sent.",
            .length(1...TaskLimits.pathLength), .absolutePath
        )
        .restricted(to: .ownFiles),
    ]

    public func validate() throws(WireError) {
        let given = [form != nil, json.isChange, raw != nil, base64 != nil, file != nil]
        guard given.count(where: \.self) == 1 else {
            throw WireError(.conflictingFields, expected: "exactly one of form, json, raw, base64, file")
        }
    }

    var content: RequestContent {
        if let form { return .form(form.parameters) }
        if let raw { return .bytes(InlineBytes(Array(raw.utf8))) }
        if let base64 { return .bytes(InlineBytes(base64.bytes)) }
        if let file { return .file(FileReference(path: file, field: "body.file")) }
        var text: [UInt8] = []
        (json.applied(to: nil) ?? .null).write(to: &text)
        return .json(InlineBytes(text))
    }
}

/// Bytes as base64 (RFC 4648 §4).
public struct Base64Text: WireValue, Hashable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "base64, a string") }
        guard let bytes = Base64.decode(text) else { throw WireError(.invalidValue, expected: "base64 (RFC 4648)") }
        self.bytes = bytes
    }

    public var wire: JSONValue { .string(Base64.encode(bytes)) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "contentEncoding": "base64"]
    }
}
