public import XferModel

/// A request's content. Its length is known before the first byte, and all of it can be read again.
public enum AttemptContent: Sendable {
    case bytes([UInt8])
    case file(AttemptFile)
    /// `multipart/form-data` (RFC 7578), made by libcurl; its boundary stays the same over all hops. A `Content-Type`
    /// of the request's own is replaced.
    case parts([AttemptPart])
}

/// A stretch of an open file that is sent.
public struct AttemptFile: Sendable, Hashable {
    /// Open for reading and borrowed: it has to stay open until the attempt's `finished` event or the return of
    /// `TransferEngine.stop`. Its own offset is neither used nor moved.
    public var descriptor: Int32
    /// First byte that is sent.
    public var offset: Int64
    /// Bytes.
    public var length: Int64
    /// The facts that the file has to keep: after every read its size, modification time, inode and device are
    /// compared, and the bytes are sent only if these are equal. Else the attempt fails with `source_file_changed`.
    public var source: SourceFile

    public init(descriptor: Int32, offset: Int64 = 0, length: Int64, source: SourceFile) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
        self.source = source
    }

    /// The whole file.
    public init(descriptor: Int32, source: SourceFile) {
        self.init(descriptor: descriptor, length: source.length, source: source)
    }
}

/// One part of a `multipart/form-data` content.
public struct AttemptPart: Sendable {
    public enum Content: Sendable {
        case bytes([UInt8])
        case file(AttemptFile)
    }

    /// The form field's name. Quotes and line breaks in it are percent-encoded, as the HTML standard says.
    public var name: String
    public var content: Content
    /// As `name`; nil sends none.
    public var filename: String?
    /// Nil: a file (`content` is one, or there is a `filename`) has the type of its name's extension, else
    /// `application/octet-stream`; anything else has none.
    public var contentType: String?
    /// Further fields of the part.
    public var headers: [HeaderField]

    public init(
        name: String, content: Content, filename: String? = nil, contentType: String? = nil, headers: [HeaderField] = []
    ) {
        self.name = name
        self.content = content
        self.filename = filename
        self.contentType = contentType
        self.headers = headers
    }
}
