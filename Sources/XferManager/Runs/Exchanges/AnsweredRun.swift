import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// A run that ends with a response, which is judged and kept for `task.result`.
protocol AnsweredRun: TaskRun {
    var keptResponse: KeptResponse? { get set }
}

extension AnsweredRun {
    /// Sends one request and returns the response, verified and decoded: in memory, or in a file if it is large.
    ///
    /// - Parameter onEvent: see `attempt`.
    func exchange(
        _ request: TransferRequest, sending content: AttemptContent?, conditions: [HeaderField] = [], spill: SpoolFile,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> ReceivedAnswer {
        let sink = BodySink.spilling(
            limit: settings.largestInlineResult, atMost: settings.largestResult, descriptor: spill.descriptor)
        // After the exchange the file system's free space excludes the written bytes, so the claim is no longer needed.
        defer { services.space.withLockedValue { $0.remove(transfer.id) } }
        let ended = try await attempt(request, into: sink) { attempt in
            attempt.mode = .exchange
            attempt.content = content
            attempt.conditions = conditions
        } onEvent: { event, handle in
            try await onEvent(event, handle)
            if case .response(let head) = event, request.method != .head {
                try await makeRoom(for: head.contentLength)
            }
        }
        return try await openAnswer(ReceivedAnswer(outcome: ended, spill: spill), to: request)
    }

    /// Reports the head of a response whose body follows.
    func report(_ head: ResponseHead, total: Int64?) {
        outcome.httpStatus = head.status
        pendingEvents.append(.taskResponse(status: head.status, total: total, etag: head.etag, resumed: false))
        commitEventsSoon()
    }

    /// Claims space for a response of known length. If it does not fit, this fails the run before the response fills
    /// the disk of the database. The engine refuses a response above `largestResult`.
    private func makeRoom(for length: Int64?) async throws {
        guard let length, length > settings.largestInlineResult, length <= settings.largestResult else { return }
        try await services.claim(length, by: transfer.id, in: services.spool.directory, for: "a response of \(length)")
    }

    /// Keeps a complete response. Returns the error for which the task refuses the response; nil if it accepts the
    /// response.
    func keepAndJudge(_ ended: AttemptOutcome, spill: SpoolFile) async throws -> TransferError? {
        let head = try record(ended)
        control.enter(.verifying)
        let (object, refusal) = try await keep(ended, spill: spill, parsing: specification.response.parsers)
        let now = services.clock()
        let request = specification.request
        if let error = ResponseRules.refusal(
            of: head, from: ended.finalURL, acceptedStatus: request.acceptedStatus,
            acceptedTypes: request.acceptedTypes, rejectsPages: request.rejectsPages, now: now)
        {
            return error
        }
        if refusal == nil { keptResponse?.result.object = object }
        return refusal
    }

    /// Records the facts about the response that go into the task's row.
    @discardableResult
    func record(_ ended: AttemptOutcome) throws(TransferError) -> ResponseHead {
        guard let head = ended.head else { throw TransferError(.internalError, "an exchange without an answer") }
        outcome.httpStatus = head.status
        outcome.finalURL = ended.finalURL
        outcome.etag = head.etag
        outcome.contentEncoding = ended.isDecoded ? nil : head.contentEncoding
        outcome.responseHeaders = head.fields
        return head
    }

    /// Keeps the body, even if the response will be refused, and parses it. Returns the parsed object, or the error
    /// that prevented parsing.
    func keep(
        _ ended: AttemptOutcome, spill: SpoolFile, parsing parsers: [ResponseParser]
    ) async throws -> (object: String?, refusal: TransferError?) {
        let handling = specification.response
        let body: [UInt8]
        if let length = ended.spilledLength {
            try await services.pool.run { () throws(FileError) in try spill.keep() }
            keptResponse = KeptResponse(result: StoredResult(content: .file(spill.name), length: length), file: spill)
            guard !parsers.isEmpty else { return (nil, nil) }
            guard length <= settings.largestParsedResult else {
                let limit = settings.largestParsedResult
                return (
                    nil, TransferError(.parseFailed, "the body has \(length) bytes, and at most \(limit) are parsed")
                )
            }
            body = try await services.pool.run { () throws(FileError) in try spill.read(upTo: Int(clamping: length)) }
        } else {
            body = ended.body ?? []
            keptResponse = KeptResponse(result: StoredResult(content: .inline(body), length: Int64(body.count)))
        }
        guard !parsers.isEmpty else { return (nil, nil) }
        if !ended.isDecoded, let coding = ended.head?.contentEncoding, !body.isEmpty {
            return (
                nil,
                TransferError(
                    .parseFailed,
                    "the server coded the body with \(coding.prefix(100).debugDescription), which was not requested; with the header "
                        + "\"Accept-Encoding: gzip\" it would be decoded")
            )
        }
        let reader = services.reader
        do throws(TransferError) {
            let object = try await services.pool.run { () throws(TransferError) in try handling.object(of: body, reader)
            }
            keptResponse?.result.object = object
            return (object, nil)
        } catch {
            return (nil, error)
        }
    }
}
