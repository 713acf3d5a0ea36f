public import XferCore
public import XferModel

/// Events of an attempt, in order. `finished` comes exactly once, last.
///
/// The type is indirect because every run that waits for an event reserves memory for several of them.
public indirect enum AttemptEvent: Sendable {
    /// A redirect by the server, and the decision about it; or a request that is made over https instead.
    case redirected(status: Int, from: HTTPURL, to: HTTPURL, RedirectDecision)
    /// The trust policies judged a server's certificates, and an operator has to be informed. If the certificates
    /// were refused, `finished` follows. The event comes once for each handshake, not for each request.
    case judged(TrustVerdict)
    /// An interim response (1xx) other than 100, for instance 104 (Upload Resumption Supported).
    /// `HeadParser.maxInterim` limits their number for one request.
    case informational(ResponseHead)
    /// The head of the final response with any status, in exchange mode.
    case response(ResponseHead)
    /// The head of a final response and its verdict, in download mode. `keeping` is the resume data for the body.
    /// Commit it with the first checkpoint. If the verdict is `restart`, commit it before `proceed`: until then the
    /// engine writes nothing.
    case head(ResponseHead, HeadVerdict, keeping: ResumeData)
    /// The caller should make the bytes below this offset durable, and then call `TransferEngine.committed`.
    case checkpointDue(offset: Int64)
    case finished(AttemptOutcome)
}

/// The result of an attempt.
public struct AttemptOutcome: Sendable {
    public enum Result: Hashable, Sendable {
        /// The segment, or the whole body, was received to its last byte. No digest is verified yet. In exchange mode:
        /// a final response was received completely, with any status.
        case complete
        /// The published file is current (`on_conflict: update`).
        case notModified
        /// The kept bytes cannot be continued. Request the whole body; discard the kept bytes, in a committed step,
        /// when it begins to arrive.
        case startOver(RestartReason)
        /// A rate limit was set on a running HTTP/2 download, or the server aborted the download and requires HTTP/1.1.
        /// Start again from `offset` over HTTP/1.1.
        case restartWithHTTP1
        /// `TransferEngine.stop` or `shutdown` ended the attempt.
        case stopped
        case failed(TransferError)
    }

    public var result: Result
    /// First offset that was not written.
    public var offset: Int64
    /// Length of the complete body in bytes; nil if unknown.
    public var total: Int64?
    /// The URL of the last response, or of the last request.
    public var finalURL: HTTPURL
    /// The head of the last final response; nil when there was none.
    public var head: ResponseHead?
    /// The body, for a memory sink and for a spilling sink whose limit was not exceeded.
    public var body: [UInt8]?
    /// The number of bytes in a spilling sink's file, if its limit was exceeded.
    public var spilledLength: Int64?
    /// True if the server may have begun to act on the request, because bytes of it were sent. A redirect with an
    /// unchanged method shows that the server did not act, so the value is reset.
    public var requestWasSent: Bool
    /// Content codings of the body that the request allowed, in the order the server applied them. The reader of the
    /// body decodes them. Empty if the body is to be kept as received.
    public var codings: [ContentCoding]
    /// The attempt's `endDigest`, if the result is `complete` and nothing but this digest can show that the body was
    /// not cut off: the reader of the bytes has to verify it.
    public var unprovenEnd: Checksum?
    /// True if the body has been decoded. The engine does not set it; the reader of the body does.
    public var isDecoded = false
    /// The resume data for the bytes below `offset`.
    public var resumeData: ResumeData
    /// The measurements of the last request; nil if there was none.
    public var trace: AttemptTrace?

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
