public import XferModel

/// The content of a request. Its length is known before the first byte is sent, and it can be read more than once.
public enum AttemptContent: Sendable {
    case bytes([UInt8])
    case file(AttemptFile)
    /// `multipart/form-data` (RFC 7578), which libcurl makes. Its boundary stays the same over all hops. It replaces a
    /// `Content-Type` field of the request.
    case parts([AttemptPart])
}

/// The part of an open file that is sent.
public struct AttemptFile: Sendable, Hashable {
    /// A descriptor that is open for reading. The caller keeps it open until the attempt's `finished` event or the
    /// return of `TransferEngine.stop`. The descriptor's file offset is neither used nor changed.
    public var descriptor: Int32
    /// Offset in the file of the first byte that is sent.
    public var offset: Int64
    /// Number of bytes that are sent.
    public var length: Int64
    /// The facts that must not change while the file is sent. After every read the engine compares size, modification
    /// time, inode and device with them. It sends the bytes only if all are equal; otherwise the attempt fails with
    /// `source_file_changed`.
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

/// A part of a form as it is sent. Quotes and line breaks in its names are percent-encoded, as the HTML standard requires.
///
/// If the media type is nil and the part is a file (`content` is one, or there is a `filename`), the extension of its
/// name decides, with `application/octet-stream` as the default. Other parts have no type then.
public typealias AttemptPart = FormPart<AttemptPartContent>

/// The content of a part that is sent.
public enum AttemptPartContent: Sendable {
    case bytes([UInt8])
    case file(AttemptFile)
}
