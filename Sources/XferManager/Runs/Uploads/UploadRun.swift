import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// An upload to a server that keeps received bytes. An `UploadMachine` decides; this run sends its requests one after
/// another, commits the state that a restart needs, and keeps the last response.
///
/// If the run ends but the remote upload survives, the task is retried; the next run requests the offset from the
/// server.
///
/// An upload in parts (`UploadRun+Parts`) has a machine for each of them, and all of them run at the same time.
actor UploadRun: AnsweredRun {
    let context: RunContext
    var facts: RunState
    var keptResponse: KeptResponse?
    /// The upload resource as committed last.
    private(set) var recorded: UploadResumeData?
    /// The upload resources of its parts as committed last, if it is sent in parts.
    var recordedParts: [Int: UploadResumeData] = [:]
    /// Bytes that the server has, by `UploadPart.number`.
    private var acknowledged: [Int?: Int64] = [:]

    init(_ context: RunContext, _ facts: RunState) {
        self.context = context
        self.facts = facts
    }

    /// True if the upload resource on the server survives this task's failure, so that a later attempt continues from
    /// it.
    var isResumable: Bool { recorded != nil || !recordedParts.isEmpty }

    func run() async throws -> RunEnd {
        let id = transfer.id
        recorded = try await services.store.read { try $0.transfers.upload(of: id) }
        guard !control.isStopRequested else { return .stopped }
        let content = try await OpenedContent.open(for: taskID, specification, services)
        guard let length = content.length else {
            throw TransferError(.internalError, "an upload that can be continued has a length")
        }
        control.setSent(recorded?.offset ?? 0, total: length)
        switch specification.upload.uploadProtocol {
        case .tus:
            if let end = try await runInParts(content, length: length) { return end }
            let whole = UploadPart(number: nil, range: 0..<length)
            return try await run(tusUpload(of: whole, content), sending: content)
        case .resumable:
            return try await run(ResumableUpload(specification, length: length, recorded), sending: content)
        case .plain: throw TransferError(.internalError, "a plain upload is one exchange")
        }
    }

    /// The machine that sends a part by tus.
    func tusUpload(of part: UploadPart, _ content: OpenedContent) -> TusUpload {
        TusUpload(specification, content, part, chunkSize: settings.uploadChunkSize, resumeData(of: part))
    }

    private func resumeData(of part: UploadPart?) -> UploadResumeData? {
        part?.number.map { recordedParts[$0] } ?? recorded
    }

    private func run(_ machine: some UploadMachine, sending content: OpenedContent) async throws -> RunEnd {
        let length = content.length ?? 0
        switch try await drive(machine, UploadPart(number: nil, range: 0..<length), sending: content) {
        case .answered(let answer, let mayRetry): return try await end(with: answer, mayRetry: mayRetry, length: length)
        case .completed(let answer, let keepsResponse):
            return try await complete(with: keepsResponse ? answer : nil, after: answer, length: length)
        case .failed(let error): return .failed(error)
        case .stopped(let mayHaveCreated): return stopped(mayHaveCreated: mayHaveCreated)
        }
    }

    /// The end of a machine's requests.
    enum Driven: Sendable {
        /// The answer is to be judged as for any other request.
        case answered(Answer, mayRetry: Bool)
        /// The server has everything. The answer is nil if there was none.
        case completed(Answer?, keepsResponse: Bool)
        case failed(TransferError)
        case stopped(mayHaveCreated: Bool)
    }

    /// Sends the requests of a machine one after another, and commits the state that a restart needs.
    ///
    /// - Parameter part: the part of the source that the machine sends; nil if its requests send nothing of it.
    func drive(
        _ made: some UploadMachine, _ part: UploadPart?, sending content: OpenedContent
    ) async throws -> Driven {
        let length = content.length ?? 0
        var machine = made
        var step = machine.onStart(at: services.clock())
        var answer: Answer?
        while true {
            try await commit(step.record, of: part, length: length)
            switch step.action {
            case .send(let request):
                guard !control.isStopRequested, !control.isEnding else { return .stopped(mayHaveCreated: false) }
                switch try await exchange(request, of: &machine, part, sending: content) {
                case .answered(let received):
                    answer = received
                    show(machine.resumeData?.offset ?? 0, of: part, total: length)
                    step = machine.onAnswer(received.head, location: received.location, at: services.clock())
                case .goesOn(let next): step = next
                case .stopped: return .stopped(mayHaveCreated: machine.resumeData == nil)
                }
            case .goOn, .interrupt:
                throw TransferError(.internalError, "an upload without a request in flight cannot continue")
            case .answered(let mayRetry):
                guard let answer else { throw TransferError(.internalError, "an upload without an answer") }
                return .answered(answer, mayRetry: mayRetry)
            case .completed(let keepsResponse):
                return .completed(answer, keepsResponse: keepsResponse)
            case .fail(let error):
                return .failed(error)
            }
        }
    }

    /// Shows how many bytes of a part the server has, and so how many in all.
    func show(_ offset: Int64, of part: UploadPart?, total: Int64) {
        guard let part else { return }
        acknowledged[part.number] = offset
        control.setSent(acknowledgedInAll, total: total)
    }

    private var acknowledgedInAll: Int64 { acknowledged.values.reduce(0) { $0.addingSaturated($1) } }

    // MARK: Ends

    private func end(with answer: Answer, mayRetry: Bool, length: Int64) async throws -> RunEnd {
        await onBodyEnd()
        guard var refusal = try await keepAndJudge(answer.outcome, spill: answer.spill) else {
            await invalidate(after: answer)
            return .completed(size: length)
        }
        guard !mayRetry, refusal.isRetriable else { return .failed(refusal) }
        // With an upload resource the response is final. Without one the request was a plain one.
        if recorded == nil {
            if RepetitionRules.mayRepeatRequest(of: specification, after: refusal) { return .failed(refusal) }
            refusal = RepetitionRules.outcomeUnknown(after: refusal, of: specification.request)
        }
        refusal.isRetriable = false
        return .failed(refusal)
    }

    /// Completes the upload.
    ///
    /// - Parameter response: the answer to keep as the task's response; nil keeps none.
    func complete(with response: Answer?, after answer: Answer?, length: Int64) async throws -> RunEnd {
        await onBodyEnd()
        if let response { try await keepUnjudged(response) }
        if let answer { await invalidate(after: answer) }
        return .completed(size: length)
    }

    private func invalidate(after answer: Answer) async {
        await services.cache.invalidate(
            after: answer.head, to: specification.request, at: answer.outcome.finalURL, owner: specification.owner)
    }

    private func keepUnjudged(_ answer: Answer) async throws {
        try record(answer.outcome)
        _ = try await keep(answer.outcome, spill: answer.spill, parsing: [])
    }

    /// Decides whether a stopped run can continue later. A request that must not be repeated, and that the server had
    /// not made resumable in time, cannot.
    private func stopped(mayHaveCreated: Bool) -> RunEnd {
        guard mayHaveCreated, attemptState.requestWasSent, specification.upload.uploadProtocol == .resumable,
            !RepetitionRules.mayRepeatRequest(of: specification)
        else { return .stopped }
        return .failed(RepetitionRules.outcomeUnknown(after: nil, of: specification.request))
    }

    // MARK: Commits

    /// Commits the state of the upload resource that a restart needs.
    func commit(_ record: UploadRecord, of part: UploadPart?, length: Int64) async throws {
        let data: UploadResumeData?
        switch record {
        case .unchanged: return
        case .keep(let kept): data = kept
        case .forget: data = nil
        }
        let id = transfer.id
        let now = services.clock()
        let number = part?.number
        let known = resumeData(of: part)
        let lost = data == nil ? known?.offset ?? 0 : 0
        acknowledged[number] = data?.offset ?? 0
        let sent = acknowledgedInAll
        try await commit(data?.url == known?.url ? .gathered : .immediate) { tx, machine in
            if let number {
                try tx.transfers.setUploadPart(data, number, of: id)
            } else {
                try tx.transfers.setUpload(data, of: id)
            }
            if lost > 0 {
                try tx.events.append(
                    .taskBytesDiscarded(
                        reason:
                            "the server has lost the upload; it is sent from the beginning if the task continues",
                        dropped: lost),
                    taskID: machine.task.id, owner: machine.task.owner, at: now)
            }
            machine.onAcknowledged(sent: sent, total: length, at: now)
        }
        if let number { recordedParts[number] = data } else { recorded = data }
    }

    // MARK: Requests

    /// A final response and the place of its content.
    struct Answer: Sendable {
        var outcome: AttemptOutcome
        var head: ResponseHead
        var location: HTTPURL?
        var spill: SpoolFile
    }

    private enum Exchanged {
        case answered(Answer)
        case goesOn(UploadStep)
        case stopped
    }

    /// Makes one request and handles its events.
    private func exchange(
        _ request: UploadRequest, of machine: inout some UploadMachine, _ part: UploadPart?,
        sending content: OpenedContent
    ) async throws -> Exchanged {
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        let length = content.length ?? 0
        if let range = request.content { show(range.lowerBound, of: part, total: length) }
        var asked = request.url
        var isInterrupted = false
        // The source stays open as long as the attempt may read it.
        defer { withExtendedLifetime(content) {} }
        let sent = request.content.flatMap { content.part($0.moved(by: part?.range.lowerBound ?? 0)) }
        let answer = try await exchange(specification.request.forUpload(request), sending: sent, spill: spill) {
            event, handle in
            switch event {
            case .redirected(_, _, let to, .followed), .redirected(_, _, let to, .upgraded):
                asked = to
            case .informational(let head) where !isInterrupted:
                isInterrupted = try await onInterim(head, from: asked, of: &machine, part, length: length)
                if isInterrupted { await services.engine.stop(handle.id) }
            case .response(let head):
                report(head, total: head.contentLength)
            case .redirected, .judged, .informational, .head, .checkpointDue, .finished:
                break
            }
        }
        return try onFinished(answer.outcome, spill: answer.spill, of: &machine, isInterrupted: isInterrupted)
    }

    /// Handles an interim response. Returns true to stop the request, because the machine sends another one.
    private func onInterim(
        _ head: ResponseHead, from url: HTTPURL, of machine: inout some UploadMachine, _ part: UploadPart?,
        length: Int64
    ) async throws -> Bool {
        let step = machine.onInterim(head, location: try place(in: head, from: url), at: services.clock())
        try await commit(step.record, of: part, length: length)
        switch step.action {
        case .goOn: return false
        case .interrupt: return true
        case .fail(let error): throw error
        case .send, .answered, .completed:
            throw TransferError(.internalError, "an interim response cannot end a request")
        }
    }

    private func onFinished(
        _ ended: AttemptOutcome, spill: SpoolFile, of machine: inout some UploadMachine, isInterrupted: Bool
    ) throws -> Exchanged {
        switch ended.result {
        case .complete:
            guard let head = ended.head else {
                throw TransferError(.internalError, "an exchange without an answer")
            }
            return .answered(
                Answer(
                    outcome: ended, head: head, location: try place(in: head, from: ended.finalURL), spill: spill))
        case .stopped:
            return isInterrupted && !control.isStopRequested ? .goesOn(machine.onInterrupted()) : .stopped
        case .failed(let error):
            return .goesOn(machine.onBroken(error, wasSent: ended.requestWasSent))
        case .notModified, .startOver, .restartWithHTTP1:
            throw TransferError(.internalError, "an exchange ended as \(ended.result)")
        }
    }

    /// The resolved `Location`, or nil if it is missing or not a URL.
    private func place(in head: ResponseHead, from url: HTTPURL) throws(TransferError) -> HTTPURL? {
        guard let text = head.location, let place = try? CurlURL.resolve(text, against: url) else { return nil }
        if url.scheme == .https, place.scheme == .http, !specification.request.allowsDowngrade {
            throw TransferError(
                .insecureRedirect, "\(url.hostKey) stores the upload at a URL without encryption",
                host: place.hostKey)
        }
        return place
    }
}

/// A part of a source that a machine sends.
struct UploadPart: Hashable, Sendable {
    /// The place among the parts that are sent at the same time, or nil if this is the whole.
    let number: Int?
    let range: Range<Int64>
}

extension Range<Int64> {
    fileprivate func moved(by distance: Int64) -> Self {
        lowerBound.addingSaturated(distance)..<upperBound.addingSaturated(distance)
    }
}
