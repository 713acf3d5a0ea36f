import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// One request and its answer: a `data` task, or an upload in one request.
///
/// Whether the server may have acted on the request is known at every end, so that a request that must not be made twice is
/// not. While the run lives, the task's state `running` in the database stands for it: a restart that finds such a task
/// running has to take it for sent.
actor ExchangeRun: AnsweredRun, TransferMember {
    let context: RunContext
    var facts: RunFacts
    var keptResponse: KeptResponse?

    /// Who asks for it and for others that want the same answer; nil asks by itself.
    private let shared: SharedTransfer?

    init(_ context: RunContext, _ facts: RunFacts, _ shared: SharedTransfer?) {
        self.context = context
        self.facts = facts
        self.shared = shared
    }

    /// A try that failed leaves nothing that the next could use.
    var isResumable: Bool { false }

    func run() async throws -> RunEnd {
        guard let shared else { return try await ask() }
        let end: Result<RunEnd, any Error>
        do {
            end = .success(try await hear(shared))
        } catch {
            end = .failure(error)
        }
        await shared.forget(taskID)
        return try end.get()
    }

    /// The answer to a request of its own.
    private func ask() async throws -> RunEnd {
        guard !control.isStopRequested else { return .stopped }
        let content = try await OpenedContent.open(for: taskID, specification, services)
        control.note(sent: 0, total: specification.kind == .upload ? content.length : nil)
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        // The sources stay open until nothing reads them any more.
        defer { withExtendedLifetime(content) {} }
        let ended = try await exchange(specification.request, sending: content.content, spill: spill) { event, _ in
            guard case .response(let head) = event else { return }
            pendingEvents.append(
                .taskResponse(status: head.status, total: head.contentLength, etag: head.etag, resumed: false))
        }
        return try await judge(ended, spill: spill)
    }

    /// The answer that others may hear, too.
    private func hear(_ shared: SharedTransfer) async throws -> RunEnd {
        control.follow(shared.control)
        let delivery = await shared.body(for: self, in: nil)
        control.follow(nil)
        switch delivery {
        case .left: return .stopped
        case .failed(let error): throw error
        case .answered(let answer): return try await judge(answer.outcome, spill: try await answer.copy(for: self))
        case .whole, .notModified: throw TransferError(.internalError, "an exchange got a body")
        }
    }

    // MARK: As a member

    /// The claim of the transfer it shares is the transfer's.
    var claimant: TransferID? { shared == nil ? transfer.id : nil }

    func stop() async {
        let attempt = control.requestStop()
        if let shared { await shared.leave(taskID) } else if let attempt { await services.engine.stop(attempt.id) }
    }

    func setMaxRates(receive: Int64, send: Int64) async {
        guard let shared else { return await setOwnMaxRates(receive: receive, send: send) }
        course.maxRates = MaxRates(receive: receive, send: send)
        await shared.setMaxRates(course.maxRates, of: taskID)
    }

    func take(_ news: HeadNews) -> Bool {
        pendingEvents.append(
            .taskResponse(status: news.head.status, total: news.total, etag: news.head.etag, resumed: false))
        return true
    }

    func note(_ head: ResponseHead, from url: HTTPURL?) {}

    func onAttemptEnd(_ progress: AttemptProgress.Snapshot) {
        let total = specification.kind == .upload ? progress.sendTotal : progress.total
        control.note(sent: progress.sent, total: total ?? control.progress.total)
    }

    // MARK: The answer

    private func judge(_ ended: AttemptOutcome, spill: SpoolFile) async throws -> RunEnd {
        switch ended.result {
        case .stopped: return .stopped
        case .failed(let error): return .failed(error)
        case .complete: break
        case .notModified, .startOver, .restartWithHTTP1:
            throw TransferError(.internalError, "an exchange ended as \(ended.result)")
        }
        await onBodyEnd()
        if let refusal = try await keepAndJudge(ended, spill: spill) { return .failed(refusal) }
        return .completed(size: specification.kind == .upload ? control.progress.sent : ended.offset)
    }
}
