/// The content of a request (RFC 9110 §6.4).
public enum RequestBody: Hashable, Sendable, Codable {
    /// As it is sent; encoded when the task was added.
    case inline(InlineBytes)
    case file(SourceFile)
    /// `multipart/form-data` (RFC 7578).
    case parts([BodyPart])

    /// The files it is read from.
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

        /// Bytes.
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
    /// Nil sends none; a file's own name unless the client said otherwise.
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

/// What a listing shows of a body without reading it.
public struct BodySummary: Hashable, Sendable, Codable {
    public enum Form: String, Sendable, Codable, CaseIterable {
        case inline, file, parts
    }

    public var form: Form
    /// Bytes of content; nil for parts, because their boundaries count, too.
    public var length: Int64?
    /// Of a file, as the client named it.
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

/// Bytes that are kept with a task; as text they are base64.
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
