import NIOConcurrencyHelpers
public import XferCore
public import XferModel

/// One attempt at a transfer: everything that the engine needs, without tasks, file names or the store.
public struct Attempt: Sendable {
    public var request: TransferRequest
    /// State that earlier attempts left; an empty value requests the whole.
    public var resumeData: ResumeData
    /// The part this attempt fetches; nil is the resume data's first segment, else the whole.
    public var segment: Segment?
    /// True to continue regardless of the validators, if the lengths are equal (`resume: unsafe`).
    public var allowsUnsafeResume: Bool
    /// True if kept bytes may be joined regardless of the validators, because a demanded digest will verify the result.
    public var joinsUnderDigest = false
    /// True if the server refuses requests for the rest, so that the whole is requested; see `ResumeRules.plan`.
    public var isRangeRefused = false
    /// The digest against which the finished bytes will be verified. With it, a body is accepted even if nothing else
    /// proves that it is complete; see `AttemptOutcome.unprovenEnd`. If it is nil, such bodies are refused.
    public var endDigest: Checksum?
    public var sink: BodySink
    /// The treatment of the response: a representation to keep, or an answer to judge.
    public var mode: AttemptMode
    /// The content of the request, or nil if it has none.
    public var content: AttemptContent?
    /// The credential; sent to its origins only.
    public var credential: ResolvedCredential?
    /// Name of the cookie jar that is used; nil neither sends nor keeps cookies.
    public var cookieJar: String?
    /// Cookies as lines of the Netscape format, instead of a named jar: the attempt has a jar of its own, which is
    /// removed at its end.
    public var cookies: [String] = []
    /// Bytes per second, 0 is unlimited. A limited transfer uses HTTP/1.1.
    public var maxReceiveRate: Int64
    /// The highest rate in bytes of content per second, 0 is unlimited.
    public var maxSendRate: Int64
    /// The lowest rate at which the body has to arrive; by default none.
    public var leastRate = LeastRate()
    /// Shared limits that apply in addition to its own; see `TransferEngine.setRateLimits`.
    public var rateScopes: [RateScope]
    /// `If-None-Match` or `If-Modified-Since` with the published file's validators, for `on_conflict: update`.
    public var conditions: [HeaderField]
    public var checkpoints: CheckpointWindow.Limits
    /// The account of the bytes that are not yet durable, shared by all attempts at one body. It is nil if this attempt
    /// alone fetches the body.
    public var unsynced: SharedUnsyncedBytes?
    /// Called before every hop, redirects included: chooses the session, and with it the trust settings, for the hop.
    public var session: SessionChooser
    /// Called with the sender at every final response's head, redirects included. Called on the attempt's loop.
    public var onServer: (@Sendable (SourceEvidence) -> Void)?
    /// The observer of an attempt with a movable sink. It is called with nil when the attempt cannot continue without
    /// its caller, or has something to report before its end; and with the outcome at its end. Called on the attempt's
    /// loop.
    public var onMovable: (@Sendable (AttemptOutcome?) -> Void)?

    public init(
        request: TransferRequest, resumeData: ResumeData = ResumeData(), segment: Segment? = nil,
        allowsUnsafeResume: Bool = false, endDigest: Checksum? = nil, sink: BodySink, mode: AttemptMode = .download,
        content: AttemptContent? = nil, credential: ResolvedCredential? = nil, cookieJar: String? = nil,
        maxReceiveRate: Int64 = 0, maxSendRate: Int64 = 0, rateScopes: [RateScope] = [.service],
        conditions: [HeaderField] = [],
        checkpoints: CheckpointWindow.Limits = CheckpointWindow.Limits(), session: @escaping SessionChooser,
        onServer: (@Sendable (SourceEvidence) -> Void)? = nil
    ) {
        self.request = request
        self.resumeData = resumeData
        self.segment = segment
        self.allowsUnsafeResume = allowsUnsafeResume
        self.endDigest = endDigest
        self.sink = sink
        self.mode = mode
        self.content = content
        self.credential = credential
        self.cookieJar = cookieJar
        self.maxReceiveRate = maxReceiveRate
        self.maxSendRate = maxSendRate
        self.rateScopes = rateScopes
        self.conditions = conditions
        self.checkpoints = checkpoints
        unsynced = nil
        self.session = session
        self.onServer = onServer
    }
}

/// The treatment of the response.
public enum AttemptMode: Sendable, Hashable {
    /// A representation: `ResumeRules` judge its head, and only its exact bytes are `complete`.
    case download
    /// Any final response, with any status, except an unrequested partial response. Its body is passed to the sink
    /// unchanged (`AttemptOutcome.codings`), and the caller judges it. Nothing is resumed: `resumeData` and `segment`
    /// are ignored.
    case exchange
}

/// The destination of the response's body.
public enum BodySink: Sendable, Hashable {
    /// The bytes are written with `pwrite` at each byte's offset within the representation. The descriptor is borrowed:
    /// it has to stay open until the attempt's `finished` event or the return of `TransferEngine.stop`.
    case file(descriptor: Int32)
    /// Collected for `AttemptOutcome.body`; a larger body fails with `length_mismatch`.
    case memory(limit: Int)
    /// Collected for `AttemptOutcome.body` as long as it has no more than `limit` bytes. Beyond that all of it is
    /// written to the descriptor from offset 0 on, and `AttemptOutcome.spilledLength` is its size. A body of more than
    /// `atMost` bytes fails with `length_mismatch`. The descriptor is borrowed as with `file`, and has to be of an
    /// empty file.
    case spilling(limit: Int, atMost: Int64, descriptor: Int32)
    /// Collected for `AttemptOutcome.body` if the response announces at most `limit` bytes. A longer body, or one of
    /// unknown length, waits at its head for `TransferEngine.move`.
    case movable(limit: Int64)
}

/// Identifies an attempt within its engine; never reused.
public struct AttemptID: Hashable, Sendable, CustomStringConvertible {
    /// The index of the engine's loop on which the attempt runs, from its beginning to its end.
    let loop: Int
    /// The number of the attempt within that loop.
    let number: UInt64

    public var description: String { "\(loop).\(number)" }
}

/// A started attempt: its events and its counters.
public struct AttemptHandle: Sendable {
    public let id: AttemptID
    /// Ends after `finished`. For a single consumer.
    public let events: AttemptEvents
    public let progress: AttemptProgress
}

/// The latest counters of an attempt; any thread may read them without a call to the loop.
public final class AttemptProgress: Sendable {
    public struct Snapshot: Hashable, Sendable {
        /// True if a final response's head has arrived.
        public var isTransferring: Bool
        /// First offset of the representation that is not written.
        public var offset: Int64
        /// Complete length, nil while unknown.
        public var total: Int64?
        /// Body bytes received over the network in this attempt, discarded ones included.
        public var received: Int64
        /// The number of bytes of content handed to the system for sending, in the present request: after a redirect
        /// that requires the content again, it begins at 0.
        public var sent: Int64
        /// The number of bytes of content handed to the system for sending in all requests of this attempt.
        public var sentInAll: Int64
        /// Length of the present request's content; nil while that is unknown, as multipart's is before the first byte.
        public var sendTotal: Int64?
        /// The measurements of the present request up to its head or its end; nil before.
        public var trace: AttemptTrace?
    }

    private let box: NIOLockedValueBox<Snapshot>

    init(offset: Int64, total: Int64?) {
        box = NIOLockedValueBox(
            Snapshot(
                isTransferring: false, offset: offset, total: total, received: 0, sent: 0, sentInAll: 0, sendTotal: nil)
        )
    }

    public var snapshot: Snapshot { box.withLockedValue { $0 } }

    func update(_ change: (inout Snapshot) -> Void) { box.withLockedValue(change) }
}

/// A range of an answer that is being received.
public struct AnswerPart: Sendable, Hashable {
    public var bytes: [UInt8]
    /// The number of bytes received so far.
    public var received: Int64
    /// The time at which the attempt began. It distinguishes its answer from that of another attempt.
    public var beganAt: Timestamp

    public init(bytes: [UInt8], received: Int64, beganAt: Timestamp) {
        self.bytes = bytes
        self.received = received
        self.beganAt = beganAt
    }
}

extension AttemptProgress.Snapshot {
    /// True if the content was begun to be sent, or the response's body is being received.
    public var isUnderWay: Bool { isTransferring || sent > 0 }

    /// Records how much of the present request's content was sent. If the count fell, it is another request's.
    mutating func setSent(_ count: Int64, of total: Int64?) {
        sentInAll += count >= sent ? count - sent : count
        (sent, sendTotal) = (count, total)
    }
}
