import XferModel

/// An attempt's content, which can be sent at several hops.
enum RequestContent {
    case single(ContentReader)
    case multipart(MultipartForm)

    init(_ content: AttemptContent) throws(TransferError) {
        switch content {
        case .bytes(let bytes): self = .single(ContentReader(GuardedSource(bytes)))
        case .file(let file): self = .single(ContentReader(GuardedSource(file)))
        case .parts(let parts): self = .multipart(try MultipartForm(parts))
        }
    }

    /// Content without bytes, for `Content-Length: 0` where the method expects content (RFC 9110 §8.6).
    static var empty: RequestContent { .single(ContentReader(GuardedSource([]))) }

    var isMultipart: Bool {
        if case .multipart = self { true } else { false }
    }

    /// The length in bytes; nil for a form, whose length only libcurl knows.
    var length: Int64? {
        if case .single(let reader) = self { reader.length } else { nil }
    }

    /// The sum of the sources' lengths in bytes. For a form, this excludes the lines between its parts.
    var sourceLength: Int64 {
        readers.reduce(0) { sum, reader in
            let next = sum.addingReportingOverflow(reader.length)
            return next.overflow ? .max : next.partialValue
        }
    }

    /// Prepares the content for this request, from the first byte. Throws when a source has changed.
    func begin(for hop: Hop) throws(TransferError) {
        for reader in readers {
            try reader.rewind()
            reader.hop = hop
        }
    }

    /// Releases the content after the last request that uses it.
    func end(_ core: EngineCore) {
        guard case .multipart(let form) = self, let carrier = form.carrier else { return }
        form.carrier = nil
        carrier.finish()
        core.forgetHandle(carrier)
    }

    private var readers: [ContentReader] {
        switch self {
        case .single(let reader): [reader]
        case .multipart(let form): form.readers
        }
    }
}

/// Passes a source's bytes to libcurl in order, for as many requests as need them.
///
/// Confined to the loop's thread.
final class ContentReader {
    private let source: GuardedSource
    private(set) var position: Int64 = 0
    /// The hop that sends the bytes; nil between requests.
    weak var hop: Hop?

    init(_ source: GuardedSource) { self.source = source }

    var length: Int64 { source.length }

    /// Returns to the first byte for the next request. Throws when the source has changed.
    func rewind() throws(TransferError) {
        position = 0
        try source.check()
    }

    /// Sets the position, because libcurl may send a part of the content again. Returns false for a position outside
    /// the source.
    func seek(to position: Int64) -> Bool {
        guard (0...length).contains(position) else { return false }
        self.position = position
        return true
    }

    /// Returns the number of bytes that were put into the buffer; 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        let count = try source.read(at: position, into: buffer)
        position += Int64(clamping: count)
        return count
    }
}
