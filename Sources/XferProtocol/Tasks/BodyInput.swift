public import StrictJSON
public import XferModel

/// The content of a request, in one of five forms.
public struct BodyInput: WireInput, Hashable {
    public var form: JSONObject?
    public var charset: FormCharset?
    /// The JSON to send; `null` is JSON, too.
    public var json = Patch<JSONValue>.unchanged
    public var raw: String?
    public var base64: Base64Text?
    public var file: String?

    public init() {}

    public static let summary = "Content of a request, in exactly one of these forms."
    public static let wireFields: WireFields<Self> = [
        .optional(
            "form", \.form, "A form (application/x-www-form-urlencoded), encoded like params; {} is an empty form.",
            example: ["name": "Ada", "tags": ["a", "b"]]),
        .optional(
            "charset", \.charset,
            "The encoding of the form's text, named in Content-Type unless headers has one; default utf-8."),
        .patch("json", \.json, "Any JSON; Content-Type is application/json unless headers has one."),
        .optional("raw", \.raw, "Text, sent as UTF-8; its type is set in headers."),
        .optional("base64", \.base64, "Bytes; their type is set in headers."),
        .optional(
            "file", \.file, "Absolute path of a file that is streamed; it must not change until it is sent.",
            .length(1...TaskLimits.pathLength), .absolutePath
        )
        .restricted(to: .ownFiles),
    ]

    public func validate() throws(WireError) {
        let given = [form != nil, json.isChange, raw != nil, base64 != nil, file != nil]
        guard given.count(where: \.self) == 1 else {
            throw WireError(.conflictingFields, expected: "exactly one of form, json, raw, base64, file")
        }
        if charset != nil, form == nil {
            throw WireError(.conflictingFields, at: "charset", expected: "form together with charset")
        }
    }

    var content: RequestContent {
        if let form { return .form(form.parameters, charset: charset ?? .utf8) }
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

/// One part of a `multipart/form-data` body (RFC 7578).
public struct PartInput: WireInput, Hashable {
    public var name = ""
    public var data: String?
    public var base64: Base64Text?
    public var file: String?
    public var filename: String?
    public var contentType: String?
    public var headers: HeaderList?

    public init() {}

    public init(name: String) { self.name = name }

    public static let summary = "One part of a multipart form: data, base64 or file."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The form field's name.", .length(1...1024), .printable, example: "photo"),
        .optional("data", \.data, "Text, sent as UTF-8."),
        .optional("base64", \.base64, "Bytes."),
        .optional(
            "file", \.file, "Absolute path of a file that is streamed.", .length(1...TaskLimits.pathLength),
            .absolutePath, example: "/srv/photos/1.jpeg"
        )
        .restricted(to: .ownFiles),
        .optional(
            "filename", \.filename, "File name sent to the server; default is the file's own name; none for data.",
            .length(1...1024), .printable),
        .optional(
            "content_type", \.contentType, "The part's media type.", .length(1...256), .printable,
            example: "image/jpeg"),
        .optional("headers", \.headers, "Further header fields of the part."),
    ]

    public func validate() throws(WireError) {
        guard [data != nil, base64 != nil, file != nil].count(where: \.self) == 1 else {
            throw WireError(.conflictingFields, expected: "exactly one of data, base64, file")
        }
        let owned = ["Content-Disposition", "Content-Type", "Content-Transfer-Encoding"]
        for field in headers?.fields ?? [] where owned.contains(where: field.name.equalsIgnoringASCIICase) {
            throw WireError(
                .invalidValue, at: "headers.\(field.name)", expected: "no field that the part's other fields set")
        }
    }

    func part(at index: Int) -> RequestPart {
        let content: RequestPart.Content
        if let file {
            content = .file(FileReference(path: file, field: "parts[\(index)].file"))
        } else {
            content = .bytes(InlineBytes(base64?.bytes ?? Array((data ?? "").utf8)))
        }
        return RequestPart(
            name: name, content: content, filename: filename, contentType: contentType, headers: headers?.fields ?? [])
    }
}

extension JSONObject {
    /// The members as parameters: numbers and `true` and `false` as JSON writes them.
    var parameters: [Parameter] { members.map { Parameter($0.key, $0.value.parameter) } }
}

extension JSONValue {
    fileprivate var parameter: ParameterValue {
        switch self {
        case .null: .null
        case .string(let text): .text(text)
        case .array(let elements): .list(elements.map(\.parameter))
        case .object(let object): .object(object.parameters)
        case .number(let number): .text(number.plainText)
        case .bool, .integer: .text(text)
        }
    }
}

extension JSONNumber {
    /// A whole number without fraction and exponent: 1e3 and 1.0 become 1000 and 1. Other numbers are unchanged.
    fileprivate var plainText: String {
        let whole = value.wire
        return whole.integerValue != nil && JSONNumber(value) == self ? whole.text : text
    }
}

/// The description of a request's content in listings.
public struct BodyRecord: WireRecord, Hashable {
    public var form = OpenEnum(BodySummary.Form.inline)
    public var length: Int64?
    public var file: String?

    public init() {}

    public init(_ summary: BodySummary) {
        form = OpenEnum(summary.form)
        length = summary.length
        file = summary.path
    }

    public static let summary = "Description of the content, without the bytes themselves."
    public static let wireFields: WireFields<Self> = [
        .required("form", \.form, "Kind of the content: stored with the task, a file, or a form's parts."),
        .optional("length", \.length, "Length in bytes; absent for parts."),
        .optional("file", \.file, "The file from which the content is read."),
    ]
}

extension BodySummary.Form: WireEnum {}
extension UploadProtocol: WireEnum {}
extension ResponseParser: WireEnum {}
extension FormCharset: WireEnum {}
