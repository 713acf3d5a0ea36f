import XferCore
import XferCurl
import XferModel
import XferStore

/// Whoever makes requests for a task: what is one attempt is the same for all of them.
protocol AttemptMaker: Actor {
    nonisolated var context: RunContext { get }
    var course: AttemptState { get set }
    /// What is durable of the bytes received, should an attempt end in a failure of ours.
    var keptByteCount: Int64 { get }
    /// The tasks the attempts are made for.
    var audience: [TaskID] { get }

    /// The counters of an attempt as it left them.
    func onAttemptEnd(_ progress: AttemptProgress.Snapshot)
}

extension AttemptMaker {
    nonisolated var taskID: TaskID { context.taskID }
    // Lent, not copied: every step looks at a part of it.
    nonisolated var specification: TaskSpecification { _read { yield context.specification } }
    nonisolated var services: RunServices { context.services }
    nonisolated var settings: ManagerSettings { context.settings }
    nonisolated var control: RunControl { context.control }
    nonisolated var trust: RunTrust { context.trust }
    nonisolated var onBodyEnd: @Sendable () async -> Void { context.onBodyEnd }

    var pendingEvents: [EventPayload] {
        get { course.pendingEvents }
        set { course.pendingEvents = newValue }
    }

    var keptByteCount: Int64 { 0 }
    var audience: [TaskID] { [taskID] }

    func onAttemptEnd(_ progress: AttemptProgress.Snapshot) {}

    /// Makes a request of this task and hears it out: asks for its secrets, tells it limits that change while it starts, notes
    /// who answers and keeps the cookies it was given.
    ///
    /// - Parameters:
    ///   - request: the task's own, or one that was made of it.
    ///   - origin: what it receives counts from this offset on; see `RunControl.begin`.
    ///   - tellsRedirects: whether they become events of the task.
    ///   - configure: what else this kind of run asks of the engine.
    ///   - onEvent: is told everything but the end. What it throws stops the attempt, and is thrown when that has ended.
    /// - Throws: `TransferError`, `StoreError`, what `onEvent` throws.
    func attempt(
        _ request: TransferRequest, into sink: BodySink, countingFrom origin: Int64 = 0,
        tellsRedirects: Bool = true, configure: (inout Attempt) -> Void,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> AttemptOutcome {
        let access = try await services.access.access(
            to: specification.request, profile: specification.profile,
            isGuests: !settings.isOperator(specification.owner))
        trust.beginAttempt()
        let rates = ratesOfEach(besides: 1)
        var attempt = Attempt(
            request: request, sink: sink, credential: access.credential, cookieJar: access.cookieJar,
            maxReceiveRate: rates.receive, maxSendRate: rates.send, rateScopes: specification.rateScopes,
            session: access.sessions(heldTo: trust),
            onServer: { [trust] in trust.note($0) })
        configure(&attempt)
        // Until the engine says otherwise.
        course.requestWasSent = true
        let handle = await services.engine.start(attempt)
        if !control.begin(handle, countingFrom: origin) { await services.engine.stop(handle.id) }
        // Changed while the attempt was being started, when nobody could be told; or others have to give way.
        if rates != ratesOfEach() || rates != course.maxRates { await shareRates() }

        var ended: AttemptOutcome?
        var failure: (any Error)?
        for await event in handle.events {
            logLaxTrust()
            if case .finished(let outcome) = event {
                ended = outcome
                continue
            }
            guard failure == nil else { continue }
            do {
                if tellsRedirects || !event.isRedirect { try await take(event) }
                try await onEvent(event, handle)
            } catch {
                failure = error
                await services.engine.stop(handle.id)
            }
        }
        control.end(handle, received: failure == nil ? ended?.offset ?? keptByteCount : keptByteCount)
        onAttemptEnd(handle.progress.snapshot)
        if let ended { course.requestWasSent = ended.requestWasSent }
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
        case .informational, .response, .head, .checkpointDue, .finished:
            break
        }
    }

    /// Bytes per second, 0 is unlimited; takes effect on the live attempt at once.
    func setMaxRates(receive: Int64, send: Int64) async { await setOwnMaxRates(receive: receive, send: send) }

    /// As `setMaxRates`, for whoever makes the attempts itself.
    func setOwnMaxRates(receive: Int64, send: Int64) async {
        course.maxRates = BandwidthLimits(receive: receive, send: send)
        await shareRates()
    }

    /// Live attempts have equal parts of what the task may receive.
    func shareRates() async {
        let rates = ratesOfEach()
        for attempt in control.attempts {
            await services.engine.setMaxReceiveRate(attempt.id, rates.receive)
            await services.engine.setMaxSendRate(attempt.id, rates.send)
        }
    }

    private func ratesOfEach(besides more: Int = 0) -> BandwidthLimits {
        let count = Int64(clamping: max(1, control.attempts.count + more))
        func part(_ rate: Int64) -> Int64 { rate > 0 ? max(1, rate / count) : 0 }
        return BandwidthLimits(receive: part(course.maxRates.receive), send: part(course.maxRates.send))
    }
}

extension AttemptEvent {
    fileprivate var isRedirect: Bool {
        if case .redirected = self { true } else { false }
    }
}

extension TaskSpecification {
    /// The limits on rates that its requests share with others'.
    fileprivate var rateScopes: [RateScope] {
        [.service] + (group.map { [.group(GroupKey(owner: owner, name: $0))] } ?? [])
            + (profile.map { [.profile($0)] } ?? [])
    }
}
