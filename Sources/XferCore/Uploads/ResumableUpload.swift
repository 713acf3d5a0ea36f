public import XferModel

/// An upload by "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, interop version 8).
///
/// The client's own request contains the whole source and invites the server to make it resumable. A server that
/// supports this answers with a 104, and the URL in its `Location`, the upload resource, is stored at once. After an
/// interruption `HEAD` requests the offset from that resource, and `PATCH` appends to it. A server that does not know
/// the protocol ignores the invitation: then the upload is a plain one, and `mayRepeat` decides if it may be sent
/// again.
public struct ResumableUpload: UploadMachine {
    private enum State: Hashable {
        /// → creating, queryingOffset, ended
        case idle
        /// The client's request in flight, with the whole source → queryingOffset, creatingEmpty, ended
        case creating
        /// The client's request in flight, without content: the parts come later → appending, ended
        case creatingEmpty
        /// HEAD in flight → appending, replaying, creating, ended
        case queryingOffset
        /// PATCH in flight → appending, queryingOffset, creating, ended
        case appending(Range<Int64>)
        /// A PATCH in flight that sends nothing, to get the answer of a complete upload again → ended
        case replaying
        /// The client's request is being stopped, because the server wants it in parts → queryingOffset, ended
        case interrupting
        case ended
    }

    private let method: HTTPMethod
    private let url: HTTPURL
    private let length: Int64
    private let mayRepeat: Bool
    private var state = State.idle
    private var fruitless = 0
    private var creations = 0
    private var limits = UploadLimits()
    public private(set) var resumeData: UploadResumeData?

    /// - Parameter mayRepeat: true if the client's request may be made a second time when the outcome of the first is
    ///   unknown: its method is idempotent, or the client allows it.
    public init(method: HTTPMethod, url: HTTPURL, length: Int64, mayRepeat: Bool, resumeData: UploadResumeData?) {
        self.method = method
        self.url = url
        self.length = length
        self.mayRepeat = mayRepeat
        self.resumeData = resumeData
        limits.largestAppend = resumeData?.largestAppend
    }

    public static func cancellation(of data: UploadResumeData) -> UploadRequest {
        ResumableUploadWire.cancellation(of: data.url)
    }

    // MARK: Events

    public mutating func onStart(at now: Timestamp) -> UploadStep {
        precondition(state == .idle, "an upload that is \(state) cannot start")
        guard let data = resumeData else { return create() }
        // An expired resource must not be used.
        if let expiry = data.expiresAt, expiry <= now { return onGone("has expired") }
        return queryOffset()
    }

    public mutating func onInterim(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        guard ResumableUploadWire.isInterim(head) else { return UploadStep(.goOn) }
        switch state {
        case .creating, .creatingEmpty: return onCreationInterim(head, location: location, at: now)
        case .appending(let range): return onProgress(head, within: range)
        case .queryingOffset, .replaying, .interrupting: return UploadStep(.goOn)
        case .idle, .ended: preconditionFailure("an interim response to an upload that is \(state)")
        }
    }

    public mutating func onAnswer(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        let answered = state
        state = .ended
        let known = resumeData
        if let objection = apply(UploadLimits(in: head), at: now) { return .fail(objection) }
        var step =
            switch answered {
            case .creating: onCreationAnswer(head, location: location, at: now)
            case .creatingEmpty: onEmptyCreationAnswer(head, location: location, at: now)
            case .queryingOffset: onOffset(head, at: now)
            case .appending(let range): onAppended(head, range, at: now)
            case .replaying: onReplayed(head, at: now)
            case .interrupting: onCreationAnswer(head, location: location, at: now)
            case .idle, .ended: preconditionFailure("an answer to an upload that is \(answered)")
            }
        if step.record == .unchanged, let resumeData, resumeData != known { step.record = .keep(resumeData) }
        return step
    }

    public mutating func onBroken(_ error: TransferError, wasSent: Bool) -> UploadStep {
        precondition(state != .idle && state != .ended, "a request broke of an upload that is \(state)")
        if state == .interrupting { return queryOffset() }
        state = .ended
        var error = error
        // Without the upload resource the outcome of the request cannot be determined.
        if wasSent, resumeData == nil, !mayRepeat { error.isRetriable = false }
        return UploadStep(.fail(error))
    }

    public mutating func onInterrupted() -> UploadStep {
        precondition(state == .interrupting, "an upload that is \(state) requested no interruption")
        return queryOffset()
    }

    // MARK: Interim responses

    private mutating func onCreationInterim(
        _ head: ResponseHead, location: HTTPURL?, at now: Timestamp
    ) -> UploadStep {
        let known = resumeData
        if let location {
            if let known, known.url != location {
                return fail("the server sent two different URLs for one upload")
            }
            if known == nil { resumeData = UploadResumeData(url: location, largestAppend: limits.largestAppend) }
        }
        if let objection = apply(UploadLimits(in: head), at: now) { return fail(objection) }
        guard resumeData != nil else { return UploadStep(.goOn) }
        var step = onProgress(head, within: 0..<(state == .creating ? length : 0))
        // The resource's URL must not be lost; the offset can always be requested again.
        if step.record == .unchanged, let data = resumeData, known == nil || known?.largestAppend != data.largestAppend
        {
            step.record = .keep(data)
        }
        if case .goOn = step.action, state == .creating, let most = limits.largestAppend, most < length {
            state = .interrupting
            step.action = .interrupt
        }
        return step
    }

    /// `Upload-Offset` while the content is on its way.
    private mutating func onProgress(_ head: ResponseHead, within range: Range<Int64>) -> UploadStep {
        guard let data = resumeData, let offset = StructuredField.integer("Upload-Offset", in: head.fields) else {
            return UploadStep(.goOn)
        }
        if let objection = UploadJudgement.objection(to: offset, from: data.offset, through: range.upperBound) {
            return fail(objection)
        }
        resumeData?.offset = offset
        return UploadStep(.goOn)
    }

    // MARK: Answers

    private mutating func onCreationAnswer(
        _ head: ResponseHead, location: HTTPURL?, at now: Timestamp
    ) -> UploadStep {
        let complete = ResumableUploadWire.isComplete(head)
        if complete == true { return UploadStep(.answered(mayRetry: false)) }
        guard resumeData == nil else {
            switch head.status {
            case 200...299: return complete == false ? queryOffset() : UploadStep(.answered(mayRetry: false))
            case 413: return onTooLarge(length)
            default: return UploadJudgement.failure(head, from: url, now: now)
            }
        }
        // Without any sign of the protocol it was a plain upload.
        let isSupported = complete == false || head.value("Upload-Limit") != nil
        guard isSupported else { return UploadStep(.answered(mayRetry: mayRepeat)) }
        switch head.status {
        case 200...299:
            guard let location else { return .fail("the server created an upload without its URL (Location)") }
            begin(at: location, head, at: now)
            return queryOffset()
        case 413 where length > 0:
            shrink(from: length)
            return createEmpty()
        default:
            return UploadStep(.answered(mayRetry: mayRepeat))
        }
    }

    private mutating func onEmptyCreationAnswer(
        _ head: ResponseHead, location: HTTPURL?, at now: Timestamp
    ) -> UploadStep {
        guard (200...299).contains(head.status) else {
            if ResumableUploadWire.isComplete(head) == true { return UploadStep(.answered(mayRetry: false)) }
            return UploadJudgement.failure(head, from: url, now: now)
        }
        if ResumableUploadWire.isComplete(head) == true {
            return .fail("the server reports a complete upload, but has received nothing")
        }
        guard let place = location ?? resumeData?.url else {
            return .fail("the server created an upload without its URL (Location)")
        }
        if let data = resumeData, data.url != place {
            return .fail("the server sent two different URLs for one upload")
        }
        if resumeData == nil { begin(at: place, head, at: now) }
        guard let offset = StructuredField.integer("Upload-Offset", in: head.fields) else { return append(from: 0) }
        if let objection = UploadJudgement.objection(to: offset, from: 0, through: 0) { return .fail(objection) }
        return append(from: 0)
    }

    private mutating func onOffset(_ head: ResponseHead, at now: Timestamp) -> UploadStep {
        guard let data = resumeData else { preconditionFailure("the offset of no upload") }
        switch head.status {
        case 200...299:
            if let stated = StructuredField.integer("Upload-Length", in: head.fields), stated != length {
                return .fail("the server says the upload has \(stated) bytes, not \(length)")
            }
            let stated = StructuredField.integer("Upload-Offset", in: head.fields)
            if let objection = UploadJudgement.objection(to: stated, from: data.offset, through: length) {
                return .fail(objection)
            }
            let offset = stated ?? 0
            advance(to: offset)
            guard ResumableUploadWire.isComplete(head) == true else { return append(from: offset) }
            guard offset == length else {
                return .fail("the server reports a complete upload with \(offset) of \(length) bytes")
            }
            state = .replaying
            return patch(offset..<offset)
        case 404, 410:
            return onGone("is gone (\(head.status))")
        default:
            return UploadJudgement.failure(head, from: data.url, now: now)
        }
    }

    private mutating func onAppended(_ head: ResponseHead, _ range: Range<Int64>, at now: Timestamp) -> UploadStep {
        guard let data = resumeData else { preconditionFailure("bytes appended to no upload") }
        let isLast = range.upperBound == length
        let isSuccess = (200...299).contains(head.status)
        if ResumableUploadWire.isComplete(head) == true {
            guard isLast || !isSuccess else {
                return .fail("the server reports a complete upload with \(range.upperBound) of \(length) bytes")
            }
            return UploadStep(.answered(mayRetry: false))
        }
        let stated = StructuredField.integer("Upload-Offset", in: head.fields)
        switch head.status {
        case 200...299:
            guard !isLast, stated != nil else { return queryAfterFruitless() }
            return goOn(at: stated)
        case 409:
            guard stated != nil else { return queryAfterFruitless() }
            // If this offset is below the acknowledged one, the server has lost bytes, and `goOn` fails.
            return goOn(at: stated)
        case 413:
            return onTooLarge(range.upperBound - range.lowerBound)
        case 404, 410:
            return onGone("is gone (\(head.status))")
        default:
            return UploadJudgement.failure(head, from: data.url, now: now)
        }
    }

    /// Handles an answer of a server that has the whole content: only its earlier answer was lost, and the server need
    /// not repeat it.
    private mutating func onReplayed(_ head: ResponseHead, at now: Timestamp) -> UploadStep {
        if ResumableUploadWire.isComplete(head) == true || (200...299).contains(head.status) {
            return UploadStep(.answered(mayRetry: false))
        }
        if head.status >= 500 { return UploadJudgement.failure(head, from: url, now: now) }
        return UploadStep(.completed(keepsResponse: false))
    }

    /// Appends at the offset that the server has just reported.
    private mutating func goOn(at stated: Int64?) -> UploadStep {
        let acknowledged = resumeData?.offset ?? 0
        if let objection = UploadJudgement.objection(to: stated, from: acknowledged, through: length) {
            return .fail(objection)
        }
        let offset = stated ?? acknowledged
        if offset == acknowledged {
            fruitless += 1
            if let step = failureForFruitlessness() { return step }
        }
        advance(to: offset)
        return append(from: offset)
    }

    private mutating func queryAfterFruitless() -> UploadStep {
        fruitless += 1
        return failureForFruitlessness() ?? queryOffset()
    }

    private mutating func failureForFruitlessness() -> UploadStep? {
        guard fruitless >= UploadJudgement.maxFruitless else { return nil }
        return .fail("the server's answers contradict each other: \(fruitless) requests made no progress")
    }

    /// 413: the server's limit for a part, else half of the part that was too large.
    private mutating func onTooLarge(_ count: Int64) -> UploadStep {
        guard shrink(from: count) else {
            return .fail("\(count) bytes in one request are too large for the server (413)")
        }
        return queryOffset()
    }

    /// Reduces the size of the parts; returns false if no smaller part makes sense.
    @discardableResult
    private mutating func shrink(from count: Int64) -> Bool {
        if let most = limits.largestAppend, most < count { return true }
        let least = max(limits.smallestAppend ?? 0, UploadJudgement.smallestPart)
        guard let smaller = UploadJudgement.smallerPart(than: count, atLeast: least) else { return false }
        limits.largestAppend = smaller
        resumeData?.largestAppend = smaller
        return true
    }

    /// Records that the upload resource no longer exists. It can no longer be determined if it ended because it was
    /// complete.
    private mutating func onGone(_ what: String) -> UploadStep {
        resumeData = nil
        creations += 1
        guard mayRepeat, creations < UploadJudgement.maxFruitless else {
            state = .ended
            return .fail("the server's upload \(what)", record: .forget)
        }
        var step = create()
        step.record = .forget
        return step
    }

    // MARK: Requests

    private mutating func create() -> UploadStep {
        if let most = limits.largestAppend, most < length { return createEmpty() }
        state = .creating
        return creation(0..<length)
    }

    private mutating func createEmpty() -> UploadStep {
        state = .creatingEmpty
        return creation(0..<0)
    }

    private func creation(_ content: Range<Int64>) -> UploadStep {
        UploadStep(.send(ResumableUploadWire.creation(method, url, sending: content, of: length)))
    }

    private mutating func queryOffset() -> UploadStep {
        guard let data = resumeData else { preconditionFailure("no upload whose offset could be queried") }
        state = .queryingOffset
        return UploadStep(.send(ResumableUploadWire.offset(of: data.url)))
    }

    private mutating func append(from offset: Int64) -> UploadStep {
        let end = max(offset, min(length, offset.addingSaturated(max(1, limits.largestAppend ?? length))))
        state = .appending(offset..<end)
        return patch(offset..<end)
    }

    private func patch(_ range: Range<Int64>) -> UploadStep {
        guard let data = resumeData else { preconditionFailure("no upload to append to") }
        return UploadStep(.send(ResumableUploadWire.append(range, of: length, to: data.url)))
    }

    private mutating func advance(to offset: Int64) {
        if let data = resumeData, offset > data.offset { fruitless = 0 }
        resumeData?.offset = offset
    }

    /// Ends the upload while a request may be in flight.
    private mutating func fail(_ message: String) -> UploadStep {
        state = .ended
        return .fail(message)
    }

    private mutating func begin(at place: HTTPURL, _ head: ResponseHead, at now: Timestamp) {
        resumeData = UploadResumeData(url: place, largestAppend: limits.largestAppend)
        _ = apply(UploadLimits(in: head), at: now)
    }

    /// Applies the limits of a response. Returns the reason why they make the upload impossible, else nil.
    private mutating func apply(_ stated: UploadLimits, at now: Timestamp) -> String? {
        if let most = stated.largest, most < length {
            return "\(length) bytes are too large for the server (at most \(most))"
        }
        limits.smallestAppend = stated.smallestAppend ?? limits.smallestAppend
        if let most = stated.largestAppend {
            limits.largestAppend = most
            resumeData?.largestAppend = most
        }
        if let seconds = stated.lifetime { resumeData?.expiresAt = now.advanced(by: .seconds(seconds)) }
        return nil
    }
}
