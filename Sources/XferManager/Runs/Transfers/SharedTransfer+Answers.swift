import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel

/// One response for all members: the request of a `data` task is sent once; each task judges, parses and keeps the
/// response itself.
extension SharedTransfer {
    func answer() async throws -> Delivery {
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        let request = specification.request
        let sink = BodySink.spilling(
            limit: settings.largestInlineResult, atMost: settings.largestResult, descriptor: spill.descriptor)
        response.times = ExchangeTimes(asked: services.clock(), answered: services.clock())
        let ended = try await attempt(request, into: sink) { attempt in
            attempt.mode = .exchange
        } onEvent: { event, _ in
            await passOnEvents()
            guard case .response(let head) = event else { return }
            response.times.answered = services.clock()
            await report(response.setHead(head, from: nil, total: head.contentLength, isResumed: false))
            if request.method != .head { try await makeRoom(forAnswer: head.contentLength) }
        }
        let answer = try await openAnswer(ReceivedAnswer(outcome: ended, spill: spill), to: request)
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

    /// Fails if the response is known not to fit, before it fills the disk that holds the database.
    private func makeRoom(forAnswer length: Int64?) async throws {
        guard let length, length > settings.largestInlineResult, length <= settings.largestResult else { return }
        try await services.claim(length, by: transfer.id, in: services.spool.directory, for: "a response of \(length)")
    }
}
