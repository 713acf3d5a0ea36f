/// The content of a request (RFC 9110 §6.4).
public enum RequestBody: Hashable, Sendable, Codable {
    /// The bytes that are sent; they were encoded when the task was added.
    case inline(InlineBytes)
    case file(SourceFile)
    /// `multipart/form-data` (RFC 7578).
    case parts([BodyPart])

    /// The files that the body is read from.
    public var sources: [SourceFile] {
        switch self {
        case .inline: []
        case .file(let file): [file]
        case .parts(let parts):
            parts.compactMap { part in
                if case .file(let file) = part.content { file } else { nil }
            }
        }
    }
}

/// A part of a body as it is stored. Admission sets the name of a file that has no `filename`.
public typealias BodyPart = FormPart<StoredPartContent>

/// The content of a stored part.
public enum StoredPartContent: Hashable, Sendable, Codable {
    case inline(InlineBytes)
    case file(SourceFile)

    /// The length in bytes.
    public var length: Int64 {
        switch self {
        case .inline(let data): Int64(data.bytes.count)
        case .file(let file): file.length
        }
    }
}

/// One part of a form (`multipart/form-data`), as it is requested, stored or sent.
public struct FormPart<PartContent: Sendable>: Sendable {
    public typealias Content = PartContent

    /// The form field's name.
    public var name: String
    public var content: Content
    /// The `filename` parameter; nil sends none.
    public var filename: String?
    public var contentType: String?
    /// Further header fields of the part.
    public var headers: [HeaderField]

    public init(
        name: String, content: Content, filename: String? = nil, contentType: String? = nil,
        headers: [HeaderField] = []
    ) {
        self.name = name
        self.content = content
        self.filename = filename
        self.contentType = contentType
        self.headers = headers
    }

    /// The part with another content.
    public func replacing<Other: Sendable>(_ content: Other) -> FormPart<Other> {
        FormPart<Other>(
            name: name, content: content, filename: filename, contentType: contentType, headers: headers)
    }
}

extension FormPart: Equatable where PartContent: Equatable {}
extension FormPart: Hashable where PartContent: Hashable {}
extension FormPart: Codable where PartContent: Codable {}

/// The description of a body in listings, so that the body need not be read.
public struct BodySummary: Hashable, Sendable, Codable {
    public enum Form: String, Sendable, Codable, CaseIterable {
        case inline, file, parts
    }

    public var form: Form
    /// The length of the content in bytes. Nil for parts, because the encoded form also contains their boundaries.
    public var length: Int64?
    /// The file's path as the client wrote it; nil for the other forms.
    public var path: String?

    public init(form: Form, length: Int64?, path: String? = nil) {
        self.form = form
        self.length = length
        self.path = path
    }

    public init(_ body: RequestBody) {
        switch body {
        case .inline(let data): self.init(form: .inline, length: Int64(data.bytes.count))
        case .file(let file): self.init(form: .file, length: file.length, path: file.path)
        case .parts: self.init(form: .parts, length: nil)
        }
    }
}

/// Bytes that are kept with a task. They are encoded as base64 text.
public struct InlineBytes: Hashable, Sendable, Codable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Base64.decode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
        }
        self.bytes = bytes
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Base64.encode(bytes))
    }
}

extension RequestBody {
    /// The body with each of its files replaced.
    public func mappingSources<Failure: Error>(
        _ transform: (SourceFile) throws(Failure) -> SourceFile
    ) throws(Failure) -> RequestBody {
        switch self {
        case .inline:
            return self
        case .file(let file):
            return .file(try transform(file))
        case .parts(let parts):
            var mapped: [BodyPart] = []
            for var part in parts {
                if case .file(let file) = part.content { part.content = .file(try transform(file)) }
                mapped.append(part)
            }
            return .parts(mapped)
        }
    }

    /// The body in the client's form, without the names of the service's copies of its files.
    public var withoutSpoolNames: RequestBody {
        mappingSources { file in
            var file = file
            file.spoolName = nil
            return file
        }
    }
}

/// A file whose bytes are sent, with its facts when the task was added: if any of them changes, nothing is sent.
public struct SourceFile: Hashable, Sendable, Codable {
    /// The absolute path in the client's form.
    public var path: String
    public var identity: FileIdentity
    /// The length in bytes.
    public var length: Int64
    /// Modification time in nanoseconds since 1970.
    public var modifiedAt: Int64
    /// The name, within the spool directory, of the copy that is sent instead of the file (`spool: true`).
    public var spoolName: String?

    public init(path: String, identity: FileIdentity, length: Int64, modifiedAt: Int64, spoolName: String? = nil) {
        self.path = path
        self.identity = identity
        self.length = length
        self.modifiedAt = modifiedAt
        self.spoolName = spoolName
    }
}
