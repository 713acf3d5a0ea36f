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
        guard let shared else { return try await bringHome() }
        let end: Result<RunEnd, any Error>
        do {
            end = .success(try await bringHome())
        } catch {
            end = .failure(error)
        }
        await shared.forget(taskID)
        return try end.get()
    }

    /// The kept answer if it may be used, else the server's.
    private func bringHome() async throws -> RunEnd {
        while true {
            guard !control.isStopRequested else { return .stopped }
            switch try await consultCache() {
            case .fetch, .miss:
                if let shared { return try await hear(shared) }
                return try await ask()
            case .use(let lease):
                trust.adopt(lease.entry.response.sources)
                let event = hit(lease.entry.response)
                guard let end = try await finish(with: lease, as: lease.entry.response) else { continue }
                pendingEvents.append(event)
                return end
            case .validate(let lease, let conditions):
                let isShown = specification.request.caching.policy == .revalidate
                if isShown, try await !show(lease) { continue }
                return try await ask(about: lease, conditions, isShown: isShown)
            }
        }
    }

    /// The answer that others may hear, too.
    private func hear(_ shared: SharedTransfer) async throws -> RunEnd {
        control.follow(shared.control)
        let delivery = await shared.body(for: self, in: nil)
        control.follow(nil)
        switch delivery {
        case .left: return .stopped
        case .failed(let error): throw error
        case .answered(let answer):
            return try await judge(answer.outcome, answer.times, spill: try await answer.copy(for: self))
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

    // MARK: Asking

    /// Makes the request, for the whole answer or for word that the kept one is right.
    ///
    /// - Parameter isShown: the kept one was told of already.
    private func ask(
        about lease: CacheLease? = nil, _ conditions: [HeaderField] = [], isShown: Bool = false
    ) async throws -> RunEnd {
        let (ended, times, spill) = try await exchange(conditions)
        let isConfirmed = ended.result == .complete && ended.head?.status == 304 && !conditions.isEmpty
        if let lease, isConfirmed {
            if let end = try await confirm(lease, ended, times, isShown: isShown) { return end }
            // The word was about another response, or the kept one is damaged.
            return try await ask(isShown: isShown)
        }
        let end = try await judge(ended, times, spill: spill)
        if isShown, case .completed = end { pendingEvents.append(.taskRefreshed) }
        return end
    }

    private func confirm(
        _ lease: CacheLease, _ ended: AttemptOutcome, _ times: ExchangeTimes, isShown: Bool
    ) async throws -> RunEnd? {
        let received = ResponseCache.Received(
            head: ended.head ?? ResponseHead(status: 304), finalURL: ended.finalURL, requestTime: times.asked,
            responseTime: times.answered, length: 0, sources: trust.sources)
        guard let renewed = try await services.cache.renew(lease, by: received, of: specification.request),
            let end = try await finish(with: lease, as: renewed)
        else { return nil }
        trust.adopt(renewed.sources)
        pendingEvents += (isShown ? [] : [hit(renewed)]) + [.taskNotModified]
        return end
    }

    private func exchange(
        _ conditions: [HeaderField]
    ) async throws -> (ended: AttemptOutcome, times: ExchangeTimes, spill: SpoolFile) {
        let content = try await OpenedContent.open(for: taskID, specification, services)
        control.note(sent: 0, total: specification.kind == .upload ? content.length : nil)
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        // The sources stay open until nothing reads them any more.
        defer { withExtendedLifetime(content) {} }
        var times = ExchangeTimes(asked: services.clock(), answered: services.clock())
        let ended = try await exchange(
            specification.request, sending: content.content, conditions: conditions, spill: spill
        ) { event, _ in
            guard case .response(let head) = event else { return }
            times.answered = services.clock()
            pendingEvents.append(
                .taskResponse(status: head.status, total: head.contentLength, etag: head.etag, resumed: false))
        }
        return (ended, times, spill)
    }

    // MARK: The answer

    private func judge(_ ended: AttemptOutcome, _ times: ExchangeTimes, spill: SpoolFile) async throws -> RunEnd {
        let end = try await judge(ended, spill: spill)
        guard case .complete = ended.result, let head = ended.head else { return end }
        if case .completed = end { await keepInCache(ended, times, spill: spill) }
        await services.cache.invalidate(
            after: head, to: specification.request, at: ended.finalURL, owner: specification.owner)
        return end
    }

    func judge(_ ended: AttemptOutcome, spill: SpoolFile) async throws -> RunEnd {
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
