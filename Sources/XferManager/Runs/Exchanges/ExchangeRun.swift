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
actor ExchangeRun: AnsweredRun {
    let context: RunContext
    var facts: RunFacts
    var keptResponse: KeptResponse?

    init(_ context: RunContext, _ facts: RunFacts) {
        self.context = context
        self.facts = facts
    }

    /// A try that failed leaves nothing that the next could use.
    var isResumable: Bool { false }

    func run() async throws -> RunEnd {
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
