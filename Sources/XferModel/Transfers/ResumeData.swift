/// The data for continuing a download (RFC 9110 §13, §14), stored in typed columns.
public struct ResumeData: Hashable, Sendable {
    public var validators: Validators
    /// Complete length of the representation in bytes, nil while unknown.
    public var totalLength: Int64?
    /// `Content-Encoding` as received; content with a value other than nil and `identity` cannot be resumed.
    public var contentEncoding: String?
    /// The media type of the kept bytes, lower case, without parameters; nil if the server named none.
    public var mediaType: String?
    /// The latest answer that did not look like the file; nil once an answer did.
    public var doubt: AnswerDoubt?
    /// The URL of the bytes after redirects.
    public var finalURL: HTTPURL?
    /// Request header fields that selected the representation; sent again unchanged.
    public var selectingHeaders: [HeaderField]
    /// Ascending, not overlapping. Empty until the first checkpoint.
    public var segments: [Segment]
    /// The file that has them; nil until the first checkpoint, and for transfers that an earlier version began.
    public var part: PartRecord?

    public init(
        validators: Validators = Validators(), totalLength: Int64? = nil, contentEncoding: String? = nil,
        finalURL: HTTPURL? = nil, selectingHeaders: [HeaderField] = [], segments: [Segment] = []
    ) {
        self.validators = validators
        self.totalLength = totalLength
        self.contentEncoding = contentEncoding
        self.finalURL = finalURL
        self.selectingHeaders = selectingHeaders
        self.segments = segments
    }

    /// Durable bytes over all segments.
    public var committedByteCount: Int64 {
        segments.reduce(0) { $0.addingSaturated($1.committed.subtractingSaturated($1.start)) }
    }
}

/// The validators of a source's version (RFC 9110 §8.8), as received.
public struct Validators: Hashable, Sendable {
    /// Represents the unknown entity tag of bytes that another program received. It is not a valid entity tag.
    public static let unknownTag = "*"

    public var etag: String?
    public var lastModified: String?
    /// The `Date` field received with them: decides whether `lastModified` is strong (§8.8.2.2).
    public var date: String?

    public init(etag: String? = nil, lastModified: String? = nil, date: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
    }
}

/// A byte range of a transfer with its own committed offset.
public struct Segment: Hashable, Sendable {
    public var start: Int64
    /// First offset after the segment; nil runs to the end of the representation.
    public var end: Int64?
    /// First offset that is not durable: `start` … `end`.
    public var committed: Int64

    public init(start: Int64, end: Int64? = nil, committed: Int64) {
        self.start = start
        self.end = end
        self.committed = committed
    }
}

/// The data for continuing an upload: the server's upload resource, and the last state that the server reported.
public struct UploadResumeData: Hashable, Sendable {
    /// The upload resource (`Location`). Its offset is requested before more is sent.
    public var url: HTTPURL
    /// The number of bytes that the server acknowledged last. Only for display: the server's answer decides.
    public var offset: Int64
    /// The time at which the server removes the upload (`Upload-Expires`).
    public var expiresAt: Timestamp?
    /// The highest number of bytes that the server accepts in one request (`Upload-Limit: max-append-size`, or learned
    /// from 413); nil is unlimited.
    public var largestAppend: Int64?

    public init(url: HTTPURL, offset: Int64 = 0, expiresAt: Timestamp? = nil, largestAppend: Int64? = nil) {
        self.url = url
        self.offset = offset
        self.expiresAt = expiresAt
        self.largestAppend = largestAppend
    }
}

/// A range of octets that is requested or received (RFC 9110 §14.1.2): `first` … `last`, both inclusive, or open-ended.
public struct ByteRange: Hashable, Sendable, CustomStringConvertible {
    public var first: Int64
    /// Last octet, inclusive; nil runs to the end.
    public var last: Int64?

    public init(first: Int64, last: Int64? = nil) {
        self.first = first
        self.last = last
    }

    /// The range as `CURLOPT_RANGE` takes it: `N-` or `N-M`.
    public var description: String { "\(first)-\(last.map(String.init) ?? "")" }
}

/// An answer that is probably not the file whose bytes are kept, and the number of times that it was received in a row.
/// It is durable, since the answers belong to different attempts.
public struct AnswerDoubt: Hashable, Sendable {
    /// The text of all properties by which answers are the same: source, status, type, validators and length.
    public var signature: String
    /// The number of times, 1 upward.
    public var count: Int

    public init(signature: String, count: Int) {
        self.signature = signature
        self.count = count
    }
}
