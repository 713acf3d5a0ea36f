import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel

/// One response for all members: the request of a `data` task is sent once; each task judges, parses and keeps the
/// response itself.
extension SharedTransfer {
    /// The answer of the first source whose status is accepted. If there is none, the answer of the most preferred
    /// source among those that may answer otherwise later, else of the most preferred one.
    func answer() async throws -> Delivery {
        var refused: [(answer: ReceivedAnswer, error: TransferError)] = []
        for source in specification.sources {
            let answer = try await ask(source)
            guard let error = refusal(of: answer.outcome) else { return try await deliver(answer) }
            refused.append((answer, error))
        }
        guard let end = refused.first(where: \.error.isRetriable) ?? refused.first else {
            throw TransferError(.internalError, "a task without a source")
        }
        if hasMirrors, let head = end.answer.outcome.head { await report(head) }
        return try await deliver(end.answer)
    }

    private var hasMirrors: Bool { !specification.mirrors.isEmpty }

    /// The failure after which the next source is requested, or nil if it is not.
    private func refusal(of outcome: AttemptOutcome) -> TransferError? {
        switch outcome.result {
        case .failed(let error):
            return MirrorSelector.concernsSource(error) ? error : nil
        case .complete:
            guard let head = outcome.head, !specification.request.acceptedStatus.contains(head.status) else {
                return nil
            }
            return ResponseRules.failure(head, from: outcome.finalURL, now: services.clock())
        case .stopped, .notModified, .startOver, .restartWithHTTP1:
            return nil
        }
    }

    /// Requests the response from one source. The members get its head, unless another source may send a better one.
    private func ask(_ source: HTTPURL) async throws -> ReceivedAnswer {
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        let request = MirrorRequest.request(specification.request, for: source)
        let sink = BodySink.spilling(
            limit: settings.largestInlineResult, atMost: settings.largestResult, descriptor: spill.descriptor)
        response.times = ExchangeTimes(requested: services.clock(), answered: services.clock())
        let ended = try await attempt(request, into: sink) { attempt in
            attempt.mode = .exchange
        } onEvent: { event, _ in
            await passOnEvents()
            guard case .response(let head) = event else { return }
            response.times.answered = services.clock()
            if !hasMirrors || request.acceptedStatus.contains(head.status) { await report(head) }
            if request.method != .head { try await makeRoom(forAnswer: head.contentLength) }
        }
        return try await openAnswer(ReceivedAnswer(outcome: ended, spill: spill), to: request)
    }

    private func report(_ head: ResponseHead) async {
        await report(response.setHead(head, from: nil, total: head.contentLength, isResumed: false))
    }

    private func deliver(_ answer: ReceivedAnswer) async throws -> Delivery {
        let outcome = answer.outcome
        switch outcome.result {
        case .complete:
            control.setReceived(outcome.offset, total: outcome.total)
            await onBodyEnd()
            return .answered(WholeAnswer(outcome: outcome, spill: answer.spill))
        case .stopped: return .left
        case .failed(let error): return .failed(error)
        case .notModified, .startOver, .restartWithHTTP1:
            throw TransferError(.internalError, "an exchange ended as \(outcome.result)")
        }
    }

    /// Fails if the response is known not to fit, before it fills the disk of the database.
    private func makeRoom(forAnswer length: Int64?) async throws {
        guard let length, length > settings.largestInlineResult, length <= settings.largestResult else { return }
        try await services.claim(length, by: transfer.id, in: services.spool.directory, for: "a response of \(length)")
    }
}

/// A complete response, not yet judged. A body too large for memory is in a temporary file that only the members read.
struct WholeAnswer: Sendable {
    let outcome: AttemptOutcome
    let spill: SpoolFile

    /// The body as the member's own file.
    func copy(for member: any TransferSubscriber) async throws -> SpoolFile {
        let (services, control, id) = (member.services, member.control, await member.transfer.id)
        let spool = services.spool
        guard let length = outcome.spilledLength else {
            return try await services.pool.run { () throws(FileError) in try spool.makeFile() }
        }
        try await services.claim(length, by: id, in: spool.directory, for: "a copy of a response")
        // Free space no longer includes what is written by then, so the claim ends.
        defer { services.space.withLockedValue { $0.remove(id) } }
        return try await services.pool.run { () throws(FileError) in
            let own = try spool.makeFile()
            _ = try FileCopy.copy(
                from: spill.descriptor, to: own.descriptor, length: length,
                isCancelled: { control.isStopRequested })
            return own
        }
    }
}
