public import XferModel

/// The state of one upload with a protocol in which the server keeps received bytes. It decides the next request, the
/// change to commit before it, and the meaning of each answer.
///
/// A machine is created for one run, from the resume data of earlier runs. At most one request is in flight at any
/// time. After `send` the caller reports interim responses, and then exactly one of `onAnswer`, `onBroken` and, after a
/// requested interruption, `onInterrupted`. Waiting before another attempt is not decided here: a failure that may be
/// temporary ends the run, and the next one begins by requesting the offset from the server.
public protocol UploadMachine: Sendable {
    /// The data that the next run needs after the last step. Its offset may be ahead of the recorded one.
    var resumeData: UploadResumeData? { get }

    /// The first step of the run.
    mutating func onStart(at now: Timestamp) -> UploadStep

    /// An interim response (1xx) to the request in flight. `location` is its `Location` resolved against the request's
    /// URL; nil if there is none or it is not an http URL.
    mutating func onInterim(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep

    /// The final response to the request in flight. Its content has been received.
    mutating func onAnswer(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep

    /// The request in flight ended without a whole response. `wasSent` is true if the server may have begun to act on
    /// it.
    mutating func onBroken(_ error: TransferError, wasSent: Bool) -> UploadStep

    /// Records that the request in flight was stopped because the last step was `interrupt`.
    mutating func onInterrupted() -> UploadStep

    /// The request that cancels the upload on the server.
    static func cancellation(of data: UploadResumeData) -> UploadRequest
}

/// One request of an upload, as its protocol wants it.
public struct UploadRequest: Hashable, Sendable {
    public var method: HTTPMethod
    public var url: HTTPURL
    /// The protocol's own fields. They replace fields of the client with the same name.
    public var headers: [HeaderField]
    /// The part of the source that is sent; nil sends no content.
    public var content: Range<Int64>?
    /// True if the client's fields about the representation (`Content-Type` …) belong to this request.
    public var describesRepresentation: Bool

    public init(
        _ method: HTTPMethod, _ url: HTTPURL, headers: [HeaderField], content: Range<Int64>? = nil,
        describesRepresentation: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.content = content
        self.describesRepresentation = describesRepresentation
    }

    /// The fields to send.
    ///
    /// - Parameter own: the client's fields.
    public func fields(with own: [HeaderField]) -> [HeaderField] {
        own.filter { field in
            headers.firstValue(named: field.name) == nil
                && (describesRepresentation || !field.name.lowercased().hasPrefix("content-"))
        } + headers
    }
}

/// The result of an event: first `record` is committed, then `action` is taken.
public struct UploadStep: Hashable, Sendable {
    public var record: UploadRecord
    public var action: UploadAction

    public init(_ action: UploadAction, record: UploadRecord = .unchanged) {
        self.record = record
        self.action = action
    }

    static func fail(_ message: String, record: UploadRecord = .unchanged) -> UploadStep {
        UploadStep(.fail(TransferError(.uploadRejected, message)), record: record)
    }
}

/// The change to commit before the step's action is taken, so that a restarted daemon can continue.
public enum UploadRecord: Hashable, Sendable {
    case unchanged
    case keep(UploadResumeData)
    /// The upload resource can no longer be used.
    case forget
}

/// The next action of the caller.
public enum UploadAction: Hashable, Sendable {
    case send(UploadRequest)
    /// The request in flight continues.
    case goOn
    /// Stop the request in flight, then call `onInterrupted`.
    case interrupt
    /// The final response just received is the upload's answer, to be judged as for any other request. `mayRetry` is
    /// true if the request may be repeated after a temporary failure.
    case answered(mayRetry: Bool)
    /// The server has stated that it has the whole source. `keepsResponse` is true if the last response is kept as the
    /// task's; it need not be judged.
    case completed(keepsResponse: Bool)
    /// Ends the run with this error. A request in flight is stopped.
    case fail(TransferError)
}

/// Rules that both protocols share.
enum UploadJudgement {
    /// The number of answers in a row without progress after which the upload fails, and the number of upload resources
    /// that the server may lose within one run.
    static let maxFruitless = 3

    /// The smallest part that is tried after a 413, in bytes.
    static let smallestPart: Int64 = 64 << 10

    /// Ends the run for a response that the protocol does not provide for.
    static func failure(_ head: ResponseHead, from url: HTTPURL, now: Timestamp) -> UploadStep {
        UploadStep(.fail(error(head, from: url, now: now)))
    }

    /// The error for a response that the protocol does not provide for. 423 (RFC 4918 §11.3) means that an earlier
    /// request's lock is still in force, which is temporary.
    static func error(_ head: ResponseHead, from url: HTTPURL, now: Timestamp) -> TransferError {
        var error = ResponseRules.failure(head, from: url, now: now)
        if head.status == 423 || head.status >= 500 {
            error.isRetriable = true
            error.retryAfter = ResponseRules.retryAfter(head, now: now)
        }
        return error
    }

    /// The reason why this offset is impossible; nil when it is possible.
    static func objection(to offset: Int64?, from acknowledged: Int64, through end: Int64) -> String? {
        guard let offset else { return "the server sent no valid offset (Upload-Offset)" }
        if offset < 0 { return "the server says it has \(offset) bytes" }
        if offset < acknowledged {
            return "the server says it has \(offset) bytes, after it had acknowledged \(acknowledged)"
        }
        return offset > end ? "the server says it has \(offset) bytes where at most \(end) are possible" : nil
    }

    /// The next smaller part after one of `count` bytes was too large for the server; nil when smaller makes no sense.
    static func smallerPart(than count: Int64, atLeast smallest: Int64 = smallestPart) -> Int64? {
        count > smallest ? max(smallest, count / 2) : nil
    }
}
