import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// One request and its response: a `data` task, or an upload in one request.
///
/// Every end states whether the server may have acted on the request, so that a request that must not be repeated is
/// not. While the run lives, the state `running` in the database means that the request may have been sent: a restart
/// that finds it assumes so.
actor ExchangeRun: AnsweredRun, TransferSubscriber {
    let context: RunContext
    var facts: RunState
    var keptResponse: KeptResponse?

    /// The transfer that makes the request for all tasks that want the same response; nil if the run makes its own.
    private let shared: SharedTransfer?
    /// True if the run has left `shared` and makes its own request.
    private var isAlone = false
    /// The head of the shared response.
    private var received: ResponseUpdate?

    init(_ context: RunContext, _ facts: RunState, _ shared: SharedTransfer?) {
        self.context = context
        self.facts = facts
        self.shared = shared
    }

    /// Always false: a failed attempt leaves nothing that the next one could use.
    var isResumable: Bool { false }

    func run() async throws -> RunEnd {
        let end: Result<RunEnd, any Error>
        do {
            end = .success(try await runToEnd())
        } catch {
            end = .failure(error)
        }
        await shared?.forget(taskID)
        return try end.get()
    }

    private func runToEnd() async throws -> RunEnd {
        while true {
            guard !control.isStopRequested else { return .stopped }
            switch try await consultCache() {
            case .fetch, .miss:
                return try await ask()
            case .use(let lease):
                let event = hit(lease.entry.response)
                guard let end = try await finish(with: lease, as: lease.entry.response) else { continue }
                pendingEvents.append(event)
                return end
            case .validate(let lease, let conditions):
                let isShown = specification.request.caching.policy == .revalidate
                if isShown, try await !show(lease) { continue }
                guard !conditions.isEmpty else { return try await ask(isShown: isShown) }
                if let end = try await confirm(lease, conditions, isShown: isShown) { return end }
                // The 304 was about another response, or the kept one is damaged.
                return try await ask(isShown: isShown)
            }
        }
    }

    // MARK: Asking

    /// Gets the whole response, shared or from a request of its own.
    ///
    /// - Parameter isShown: true if a kept response was reported already.
    private func ask(isShown: Bool = false) async throws -> RunEnd {
        guard let shared, !isAlone else {
            return try await judge(try await exchange([]), isShown: isShown)
        }
        control.follow(shared.control)
        let delivery = await shared.body(for: self, in: nil)
        control.follow(nil)
        switch delivery {
        case .left: return .stopped
        case .failed(let error): throw error
        case .answered(let answer):
            let now = services.clock()
            let own = OwnAnswer(
                ended: answer.outcome, times: received?.times ?? ExchangeTimes(requested: now, answered: now),
                spill: try await answer.copy(for: self))
            return try await judge(own, isShown: isShown)
        case .whole, .notModified: throw TransferError(.internalError, "an exchange got a body")
        }
    }

    /// Requests confirmation that the cached response is current; nil if the 304 is unusable. The conditions are this
    /// task's alone, so the request is not shared.
    private func confirm(
        _ lease: CacheLease, _ conditions: [HeaderField], isShown: Bool
    ) async throws -> RunEnd? {
        isAlone = true
        await shared?.forget(taskID)
        let answer = try await exchange(conditions)
        guard answer.ended.result == .complete, let head = answer.ended.head, head.status == 304 else {
            return try await judge(answer, isShown: isShown)
        }
        let word = ResponseCache.Received(
            head: head, finalURL: answer.ended.finalURL, requestTime: answer.times.requested,
            responseTime: answer.times.answered, length: 0, sources: trust.sources)
        guard let renewed = try await services.cache.renew(lease, by: word, of: specification.request),
            let end = try await finish(with: lease, as: renewed)
        else { return nil }
        pendingEvents += (isShown ? [] : [hit(renewed)]) + [.taskNotModified]
        return end
    }

    /// A response, its times, and its file if it is large.
    struct OwnAnswer {
        let ended: AttemptOutcome
        let times: ExchangeTimes
        let spill: SpoolFile
    }

    /// Makes a request of this run alone.
    private func exchange(_ conditions: [HeaderField]) async throws -> OwnAnswer {
        let content = try await OpenedContent.open(for: taskID, specification, services)
        control.setSent(0, total: specification.kind == .upload ? content.length : nil)
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        // The sources stay open as long as the attempt may read them.
        defer { withExtendedLifetime(content) {} }
        var times = ExchangeTimes(requested: services.clock(), answered: services.clock())
        let answer = try await exchange(
            specification.request, sending: content.content, conditions: conditions, spill: spill
        ) { event, _ in
            guard case .response(let head) = event else { return }
            times.answered = services.clock()
            report(head, total: head.contentLength)
        }
        return OwnAnswer(ended: answer.outcome, times: times, spill: answer.spill)
    }

    // MARK: As a member

    /// The shared transfer releases its own claim.
    var claimant: TransferID? { shared == nil ? transfer.id : nil }

    func stop() async {
        let attempts = control.requestStop()
        if let shared, !isAlone { return await shared.leave(taskID) }
        for attempt in attempts { await services.engine.stop(attempt.id) }
    }

    func setMaxRates(receive: Int64, send: Int64) async {
        guard let shared, !isAlone else { return await setOwnMaxRates(receive: receive, send: send) }
        attemptState.maxRates = BandwidthLimits(receive: receive, send: send)
        await shared.setMaxRates(attemptState.maxRates, of: taskID)
    }

    func apply(_ update: ResponseUpdate) -> Bool {
        received = update
        report(update.head, total: update.total)
        return true
    }

    func record(_ head: ResponseHead, from url: HTTPURL?) {}

    func onAttemptEnd(_ progress: AttemptProgress.Snapshot) {
        let total = specification.kind == .upload ? progress.sendTotal : progress.total
        control.setSent(progress.sent, total: total ?? control.progress.total)
    }

    // MARK: The answer

    private func judge(_ answer: OwnAnswer, isShown: Bool) async throws -> RunEnd {
        let ended = answer.ended
        let end = try await judge(ended, spill: answer.spill)
        guard case .complete = ended.result, let head = ended.head else { return end }
        if case .completed = end {
            await keepInCache(ended, answer.times, spill: answer.spill)
            if isShown { pendingEvents.append(.taskRefreshed) }
        }
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
