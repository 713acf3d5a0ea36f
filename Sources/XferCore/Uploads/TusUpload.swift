public import XferModel

/// An upload by tus 1.0 (https://tus.io/protocols/resumable-upload) with its creation, creation-with-upload, expiration
/// and termination extensions; or a part of one, see `TusConcatenation`.
///
/// `POST` creates the upload resource, whose URL is stored before a byte is sent. `PATCH` appends at the offset that
/// the server reported last; whenever that is uncertain, `HEAD` requests it.
public struct TusUpload: UploadMachine {
    private enum State: Hashable {
        /// → creating, queryingOffset
        case idle
        /// POST in flight, with these bytes of the source → appending, creating, ended
        case creating(Range<Int64>)
        /// HEAD in flight → appending, creating, ended
        case queryingOffset(UploadResumeData)
        /// PATCH in flight → appending, queryingOffset, creating, ended
        case appending(UploadResumeData, Range<Int64>)
        case ended
    }

    /// The server's upload collection, in which uploads are created.
    private let url: HTTPURL
    /// The length of the source in bytes.
    private let length: Int64
    private let metadata: String
    private var state = State.idle
    private var fruitless = 0
    private var creations = 0
    /// The limit from a 413; it stays valid for a new upload resource.
    private var largestAppend: Int64?
    /// The client's limit for one request.
    private let chunkSize: Int64?
    /// True if the next creation contains the first bytes. A server that has refused them once does not get them again.
    private var createsWithContent: Bool
    /// True if the server joins it with others, so that it has no metadata of its own.
    private let isPart: Bool
    public private(set) var resumeData: UploadResumeData?

    /// The highest number of bytes that a creation contains: if its answer is lost, they are sent again.
    public static let largestCreation: Int64 = 1 << 20

    /// - Parameters:
    ///   - metadata: the value of `Upload-Metadata`, see `metadata(filename:mediaType:)`.
    ///   - chunkSize: the highest number of bytes in one request; nil is unlimited.
    ///   - createsWithContent: the request that creates the upload contains the first bytes. A server without this
    ///     extension ignores or refuses them, and gets them afterwards.
    ///   - isPart: the server joins it with other parts.
    public init(
        url: HTTPURL, length: Int64, metadata: String, resumeData: UploadResumeData?, chunkSize: Int64? = nil,
        createsWithContent: Bool = false, isPart: Bool = false
    ) {
        self.isPart = isPart
        self.chunkSize = chunkSize.map { max(1, $0) }
        self.createsWithContent = createsWithContent
        self.url = url
        self.length = length
        self.metadata = metadata
        self.resumeData = resumeData
        largestAppend = resumeData?.largestAppend
    }

    /// `Upload-Metadata` with the two keys servers look for.
    public static func metadata(filename: String, mediaType: String) -> String {
        "filename \(Base64.encode(filename.utf8)),filetype \(Base64.encode(mediaType.utf8))"
    }

    public static func cancellation(of data: UploadResumeData) -> UploadRequest {
        UploadRequest(.delete, data.url, headers: [version])
    }

    // MARK: Events

    public mutating func onStart(at now: Timestamp) -> UploadStep {
        precondition(state == .idle, "an upload that is \(state) cannot start")
        guard let data = resumeData else { return create() }
        if let expiry = data.expiresAt, expiry <= now { return createAgain() }
        return queryOffset(data)
    }

    public mutating func onInterim(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        UploadStep(.goOn)
    }

    public mutating func onAnswer(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        let answered = state
        state = .ended
        if let fault = Self.versionFault(in: head) { return .fail(fault) }
        switch answered {
        case .creating(let sent):
            return onCreated(head, sent, location: location, at: now)
        case .queryingOffset(let data):
            return onOffset(head, of: data, at: now)
        case .appending(let data, let range):
            return onAppended(head, range, of: data, at: now)
        case .idle, .ended:
            preconditionFailure("an answer to an upload that is \(answered)")
        }
    }

    public mutating func onBroken(_ error: TransferError, wasSent: Bool) -> UploadStep {
        precondition(state != .idle && state != .ended, "a request broke of an upload that is \(state)")
        // A creation whose answer is lost leaves at worst an upload behind that is not continued and expires.
        state = .ended
        return UploadStep(.fail(error))
    }

    public mutating func onInterrupted() -> UploadStep {
        preconditionFailure("no request of this protocol is ever interrupted")
    }

    // MARK: Answers

    private mutating func onCreated(
        _ head: ResponseHead, _ sent: Range<Int64>, location: HTTPURL?, at now: Timestamp
    ) -> UploadStep {
        switch head.status {
        case 201:
            guard let location else {
                return .fail("the server created an upload without its URL (Location)")
            }
            // A server that does not know the extension names no offset: it has nothing.
            let stated = head.value("Upload-Offset")
            let offset = sent.isEmpty || stated == nil ? 0 : Self.offset(in: head)
            if let objection = UploadJudgement.objection(to: offset, from: 0, through: sent.upperBound) {
                return .fail(objection)
            }
            let data = UploadResumeData(
                url: location, offset: offset ?? 0, expiresAt: Self.expiry(in: head), largestAppend: largestAppend)
            resumeData = data
            return goOn(with: data, recording: true)
        case 400 where !sent.isEmpty, 411 where !sent.isEmpty, 413 where !sent.isEmpty, 415 where !sent.isEmpty,
            422 where !sent.isEmpty:
            createsWithContent = false
            return create()
        case 412:
            let versions = head.value("Tus-Version").map { ": it has \($0.prefix(100))" } ?? ""
            return .fail("the server does not support tus \(Self.version.value)\(versions)")
        case 413:
            let most = head.value("Tus-Max-Size").map { " (at most \($0.prefix(100)) bytes)" } ?? ""
            return .fail("\(length) bytes are too large for the server\(most)")
        case 200...299:
            return .fail("the server answered \(head.status) where tus requires 201: it may not support tus")
        default:
            return UploadJudgement.failure(head, from: url, now: now)
        }
    }

    private mutating func onOffset(_ head: ResponseHead, of data: UploadResumeData, at now: Timestamp) -> UploadStep {
        switch head.status {
        case 200...299:
            if let stated = head.value("Upload-Length"), Decimal64.parse(stated) != length {
                return .fail("the server says the upload has \(stated.prefix(100)) bytes, not \(length)")
            }
            return continueAt(Self.offset(in: head), through: length, head, of: data)
        case 404, 410:
            return createAgain()
        default:
            return UploadJudgement.failure(head, from: data.url, now: now)
        }
    }

    private mutating func onAppended(
        _ head: ResponseHead, _ range: Range<Int64>, of data: UploadResumeData, at now: Timestamp
    ) -> UploadStep {
        switch head.status {
        case 200...299:
            let offset = Self.offset(in: head)
            if offset == range.lowerBound {
                fruitless += 1
                if fruitless >= UploadJudgement.maxFruitless {
                    return .fail("the server accepted none of \(range.count) bytes, \(fruitless) times")
                }
            }
            return continueAt(offset, through: range.upperBound, head, of: data)
        case 404, 410:
            return createAgain()
        case 409:
            fruitless += 1
            guard fruitless < UploadJudgement.maxFruitless else {
                return .fail("the server refuses its own offset (409), \(fruitless) times")
            }
            return queryOffset(data)
        case 413:
            guard let smaller = UploadJudgement.smallerPart(than: range.upperBound - range.lowerBound) else {
                return .fail("\(range.count) bytes in one request are too large for the server (413)")
            }
            largestAppend = smaller
            var smallerData = data
            smallerData.largestAppend = smaller
            resumeData = smallerData
            var step = queryOffset(smallerData)
            step.record = .keep(smallerData)
            return step
        default:
            return UploadJudgement.failure(head, from: data.url, now: now)
        }
    }

    /// Continues at the offset that the server has stated.
    private mutating func continueAt(
        _ offset: Int64?, through end: Int64, _ head: ResponseHead, of data: UploadResumeData
    ) -> UploadStep {
        if let objection = UploadJudgement.objection(to: offset, from: data.offset, through: end) {
            return .fail(objection)
        }
        var reported = data
        reported.offset = offset ?? data.offset
        reported.expiresAt = Self.expiry(in: head) ?? data.expiresAt
        if reported.offset > data.offset { fruitless = 0 }
        resumeData = reported
        return goOn(with: reported, recording: reported != data)
    }

    // MARK: Requests

    private mutating func goOn(with data: UploadResumeData, recording isNew: Bool) -> UploadStep {
        let record: UploadRecord = isNew ? .keep(data) : .unchanged
        guard data.offset < length else {
            state = .ended
            return UploadStep(.completed(keepsResponse: true), record: record)
        }
        let end = min(length, data.offset.addingSaturated(largestRequest(data.largestAppend)))
        state = .appending(data, data.offset..<end)
        return UploadStep(
            .send(
                UploadRequest(
                    .patch, data.url,
                    headers: [
                        Self.version, HeaderField(name: "Upload-Offset", value: String(data.offset)),
                        Self.contentType,
                    ], content: data.offset..<end)),
            record: record)
    }

    private mutating func queryOffset(_ data: UploadResumeData) -> UploadStep {
        state = .queryingOffset(data)
        return UploadStep(.send(UploadRequest(.head, data.url, headers: [Self.version])))
    }

    private mutating func create() -> UploadStep {
        let first = createsWithContent ? min(length, largestRequest(largestAppend), Self.largestCreation) : 0
        state = .creating(0..<first)
        var headers = [
            Self.version, HeaderField(name: "Upload-Length", value: String(length)),
            isPart
                ? HeaderField(name: "Upload-Concat", value: "partial")
                : HeaderField(name: "Upload-Metadata", value: metadata),
        ]
        if first > 0 { headers.append(Self.contentType) }
        return UploadStep(.send(UploadRequest(.post, url, headers: headers, content: 0..<first)))
    }

    /// The highest number of bytes of one request, at least 1.
    private func largestRequest(_ largestAppend: Int64?) -> Int64 {
        max(1, [largestAppend, chunkSize].compactMap(\.self).min() ?? length)
    }

    /// Creates another upload, because the server no longer has this one.
    private mutating func createAgain() -> UploadStep {
        resumeData = nil
        creations += 1
        guard creations < UploadJudgement.maxFruitless else {
            state = .ended
            return .fail("the server forgot the upload \(creations) times", record: .forget)
        }
        var step = create()
        step.record = .forget
        return step
    }

    static let version = HeaderField(name: "Tus-Resumable", value: "1.0.0")

    /// The message for an answer of another version of the protocol; nil if the version is correct.
    static func versionFault(in head: ResponseHead) -> String? {
        guard let stated = head.value("Tus-Resumable"), stated != version.value else { return nil }
        return "the server answers with tus \(stated.prefix(100)), not \(version.value)"
    }

    private static let contentType = HeaderField(name: "Content-Type", value: "application/offset+octet-stream")

    private static func offset(in head: ResponseHead) -> Int64? {
        head.value("Upload-Offset").flatMap { Decimal64.parse($0) }
    }

    /// The expiry of the upload; nil when the server does not state it, or when the date cannot be parsed.
    private static func expiry(in head: ResponseHead) -> Timestamp? {
        head.value("Upload-Expires").flatMap(HTTPDate.parse)
    }
}
