public import XferCore
public import XferModel

/// Events of an attempt, in order. `finished` comes exactly once, last.
public enum AttemptEvent: Sendable {
    case redirected(status: Int, from: HTTPURL, to: HTTPURL)
    /// A server's certificates were judged, and an operator has to be informed. If they were refused, `finished`
    /// follows. Reported once for each handshake, not for each request on the connection.
    case judged(TrustVerdict)
    /// An interim response (1xx) but 100, for instance 104 (Upload Resumption Supported). Their number for one request
    /// is limited (`HeadParser.maxInterim`).
    case informational(ResponseHead)
    /// The head of the final response, whatever its status, in exchange mode.
    case response(ResponseHead)
    /// The head of a final response and its verdict, in download mode. `keeping` is the resume data for the bytes of
    /// the body: commit it with the first checkpoint, or, when the verdict is `restart`, before `proceed`, for which
    /// the engine waits without writing.
    case head(ResponseHead, HeadVerdict, keeping: ResumeData)
    /// The bytes below this offset should be made durable; answer with `TransferEngine.committed`.
    case checkpointDue(offset: Int64)
    case finished(AttemptOutcome)
}

/// The result of an attempt.
public struct AttemptOutcome: Sendable {
    public enum Result: Hashable, Sendable {
        /// The segment, or the whole, was received to its last byte. Not yet verified against any digest. In exchange
        /// mode: a final response was received whole, whatever its status.
        case complete
        /// The published file is current (`on_conflict: update`).
        case notModified
        /// The kept bytes cannot be used: commit that they are dropped, then start a new attempt without resume data.
        case startOver(RestartReason)
        /// A limit was put on a running HTTP/2 download: start again from `offset` with the limit.
        case restartWithHTTP1
        /// `TransferEngine.stop` or `shutdown`.
        case stopped
        case failed(TransferError)
    }

    public var result: Result
    /// First offset that was not written.
    public var offset: Int64
    /// Complete length as far as known.
    public var total: Int64?
    /// The URL of the last response, or of the last request.
    public var finalURL: HTTPURL
    /// The last final response, nil when there was none.
    public var head: ResponseHead?
    /// The body, for a memory sink, and for a spilling one whose limit was not passed.
    public var body: [UInt8]?
    /// Bytes in a spilling sink's file, when its limit was passed.
    public var spilledLength: Int64?
    /// Whether the server may have begun to act on the request: bytes of it were sent. A redirect with an unchanged
    /// method shows that the server did not act, so the value is reset.
    public var requestWasSent: Bool
    /// Content codings of the body that the request asked for, in the order the server applied them; the reader of the
    /// body undoes them. Empty when the body is to be kept as it came.
    public var codings: [ContentCoding]
    /// The codings were undone: the body is the content. The engine does not set it.
    public var isDecoded = false
    /// The resume data for the bytes below `offset`.
    public var resumeData: ResumeData

    public init(
        result: Result, offset: Int64, total: Int64?, finalURL: HTTPURL, head: ResponseHead?, body: [UInt8]?,
        spilledLength: Int64? = nil, requestWasSent: Bool = false, codings: [ContentCoding] = [],
        resumeData: ResumeData
    ) {
        self.result = result
        self.offset = offset
        self.total = total
        self.finalURL = finalURL
        self.head = head
        self.body = body
        self.spilledLength = spilledLength
        self.requestWasSent = requestWasSent
        self.codings = codings
        self.resumeData = resumeData
    }
}
