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
    let taskID: TaskID
    let specification: TaskSpecification
    let services: RunServices
    let settings: ManagerSettings
    let control: RunControl
    let trust: RunTrust
    /// Called once when the body has ended and the request needs no slot any more.
    let onBodyEnd: @Sendable () async -> Void

    var transfer: Transfer
    var outcome: TaskOutcome
    var pendingEvents: [EventPayload] = []
    var keptResponse: KeptResponse?
    private(set) var requestWasSent = false
    private var maxReceiveRate: Int64
    private var maxSendRate: Int64

    init(
        task: TransferTask, transfer: Transfer, services: RunServices, settings: ManagerSettings, control: RunControl,
        trust: RunTrust, onBodyEnd: @escaping @Sendable () async -> Void
    ) {
        taskID = task.id
        specification = task.specification
        self.services = services
        self.settings = settings
        self.control = control
        self.trust = trust
        self.onBodyEnd = onBodyEnd
        self.transfer = transfer
        outcome = task.outcome
        maxReceiveRate = task.specification.maxReceiveRate
        maxSendRate = task.specification.maxSendRate
    }

    /// A try that failed leaves nothing that the next could use.
    var isResumable: Bool { false }

    func setMaxRates(receive: Int64, send: Int64) async {
        (maxReceiveRate, maxSendRate) = (receive, send)
        guard let attempt = control.attempt else { return }
        await services.engine.setMaxReceiveRate(attempt.id, receive)
        await services.engine.setMaxSendRate(attempt.id, send)
    }

    func run() async throws -> RunEnd {
        guard !control.isStopRequested else { return .stopped }
        let content = try await OpenedContent.open(for: taskID, specification, services)
        control.note(sent: 0, total: content.length)
        let (pool, spool) = (services.pool, services.spool)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        let ended = try await exchange(content, spill: spill)
        return try await judge(ended, spill: spill)
    }

    /// Sends the request and hears the answer out.
    private func exchange(_ content: OpenedContent, spill: SpoolFile) async throws -> AttemptOutcome {
        trust.beginAttempt()
        let access = try await services.access.access(to: specification.request, profile: specification.profile)
        let rates = (maxReceiveRate, maxSendRate)
        // Until the engine says otherwise.
        requestWasSent = true
        let handle = await services.engine.start(
            Attempt(
                request: specification.request,
                sink: .spilling(limit: settings.largestInlineResult, descriptor: spill.descriptor), mode: .exchange,
                content: content.content, credential: access.credential, cookieJar: access.cookieJar,
                maxReceiveRate: rates.0, maxSendRate: rates.1, session: access.sessions(heldTo: trust),
                onServer: { [trust] in trust.note($0) }))
        if !control.begin(handle) { await services.engine.stop(handle.id) }
        // Changed while the attempt was being started, when nobody could be told.
        if rates != (maxReceiveRate, maxSendRate) { await setMaxRates(receive: maxReceiveRate, send: maxSendRate) }
        var ended: AttemptOutcome?
        var failure: (any Error)?
        for await event in handle.events {
            logLaxTrust()
            do {
                switch event {
                case .finished(let outcome): ended = outcome
                default: try await take(event)
                }
            } catch {
                failure = failure ?? error
                await services.engine.stop(handle.id)
            }
        }
        let sent = handle.progress.snapshot.sent
        control.endAttempt(received: ended?.offset ?? 0)
        control.note(sent: sent, total: control.progress.total ?? content.length)
        // The sources stay open until nothing reads them any more.
        withExtendedLifetime(content) {}
        if let ended { requestWasSent = ended.requestWasSent }
        try await services.cookies.save(access.cookieJar)
        if let failure { throw failure }
        guard let ended else { throw TransferError(.internalError, "the attempt ended without an outcome") }
        return ended
    }

    private func take(_ event: AttemptEvent) async throws {
        switch event {
        case .redirected(let status, let from, let to):
            pendingEvents.append(.taskRedirected(status: status, from: from.description, to: to.description))
        case .judged(let verdict):
            try await report(verdict)
        case .response(let head):
            pendingEvents.append(
                .taskResponse(status: head.status, total: head.contentLength, etag: head.etag, resumed: false))
            try await makeRoom(for: head.contentLength)
        case .informational, .head, .checkpointDue, .finished:
            break
        }
    }

    /// Refuses an answer that is known not to fit before it fills the disk the database lies on.
    private func makeRoom(for length: Int64?) async throws {
        guard let length, length > settings.largestInlineResult else { return }
        let directory = services.spool.directory
        let free = try await services.pool.run { try directory.freeSpace() }
        let id = transfer.id
        let shortfall = services.space.withLockedValue { ledger in
            let shortfall = ledger.shortfall(remaining: length, for: id, on: directory.fileSystemID, free: free)
            if shortfall == 0 { ledger.set(remaining: length, for: id, on: directory.fileSystemID) }
            return shortfall
        }
        guard shortfall == 0 else {
            throw TransferError(
                .insufficientSpace, "\(directory.path) lacks \(shortfall) bytes for a response of \(length)")
        }
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
