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

    /// No bytes at all: where content is expected, its absence is said with `Content-Length: 0` (RFC 9110 §8.6).
    static var empty: RequestContent { .single(ContentReader(GuardedSource([]))) }

    var isMultipart: Bool {
        if case .multipart = self { true } else { false }
    }

    /// Bytes; nil while only libcurl knows the number.
    var length: Int64? {
        if case .single(let reader) = self { reader.length } else { nil }
    }

    /// Bytes of the sources: for a form without the lines between its parts.
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

    /// After the last request with it.
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
