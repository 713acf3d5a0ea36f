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

/// One part of a `multipart/form-data` body.
public struct BodyPart: Hashable, Sendable, Codable {
    public enum Content: Hashable, Sendable, Codable {
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

    /// The form field's name.
    public var name: String
    public var content: Content
    /// The `filename` parameter; nil sends none. For a file part without one, admission sets the file's own name.
    public var filename: String?
    public var contentType: String?
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
}

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
