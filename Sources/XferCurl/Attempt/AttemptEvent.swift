public import XferCore
public import XferModel

/// What becomes of an attempt, in order. `finished` comes exactly once, last.
public enum AttemptEvent: Sendable {
    case redirected(status: Int, from: HTTPURL, to: HTTPURL)
    /// A server's certificates were judged and there is something to tell an operator. When they were refused, `finished`
    /// follows. Told once for each handshake, not for each request on the connection.
    case judged(TrustVerdict)
    /// An interim response (1xx) but 100, for instance 104 (Upload Resumption Supported). A server that sends thousands for
    /// one request is not listened to for ever.
    case informational(ResponseHead)
    /// The head of the final response, whatever its status, in exchange mode.
    case response(ResponseHead)
    /// The head of a final response and what it means, in download mode. `keeping` is the resume data that describes the bytes the body
    /// brings: commit it with the first checkpoint, or, when the verdict is `restart`, before `proceed`, for which the
    /// engine waits without writing.
    case head(ResponseHead, HeadVerdict, keeping: ResumeData)
    /// The bytes below this offset should be made durable; answer with `TransferEngine.committed`.
    case checkpointDue(offset: Int64)
    case finished(AttemptOutcome)
}

/// How an attempt ended.
public struct AttemptOutcome: Sendable {
    public enum Result: Hashable, Sendable {
        /// The segment, or the whole, was received to its last byte. Not yet verified against any digest. In exchange
        /// mode: a final response was received whole, whatever its status.
        case complete
        /// The published file is current (`on_conflict: update`).
        case notModified
        /// The kept bytes are of no use: commit that they are dropped, then start a new attempt without resume data.
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
    /// Where the last response came from, or the last request went to.
    public var finalURL: HTTPURL
    /// The last final response, nil when there was none.
    public var head: ResponseHead?
    /// The body, for a memory sink, and for a spilling one whose limit was not passed.
    public var body: [UInt8]?
    /// Bytes in a spilling sink's file, when its limit was passed.
    public var spilledLength: Int64?
    /// Whether the server may have begun to act on the request: bytes of it went out. A redirect that leaves the method as
    /// it is shows that the server did not act, and the count begins anew.
    public var requestWasSent: Bool
    /// Content codings of the body that the request asked for, in the order the server applied them; the reader of the
    /// body undoes them. Empty when the body is to be kept as it came.
    public var codings: [ContentCoding]
    /// They were undone: the body is the content. The engine does not.
    public var isDecoded = false
    /// What describes the bytes below `offset`.
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
