import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore
import XferSystem

/// An actor that makes requests for a task. The steps of an attempt are the same for all of them.
protocol AttemptMaker: Actor {
    nonisolated var context: RunContext { get }
    var attemptState: AttemptState { get set }
    /// Received bytes that are durable, for the case that this service's own error ends an attempt.
    var keptByteCount: Int64 { get }
    /// The tasks the attempts are made for.
    var subscribers: [TaskID] { get }

    /// Called with the final counters of an attempt.
    func onAttemptEnd(_ progress: AttemptProgress.Snapshot)
}

extension AttemptMaker {
    nonisolated var taskID: TaskID { context.taskID }
    nonisolated var services: RunServices { context.services }
    // These yield a reference instead of a copy, because every step reads a part of them.
    nonisolated var specification: TaskSpecification { _read { yield context.specification } }
    nonisolated var settings: ManagerSettings { _read { yield context.settings } }
    nonisolated var control: RunControl { context.control }
    nonisolated var trust: RunTrust { context.trust }
    nonisolated var onBodyEnd: @Sendable () async -> Void { context.onBodyEnd }

    var pendingEvents: [EventPayload] {
        get { attemptState.pendingEvents }
        set { attemptState.pendingEvents = newValue }
    }

    var keptByteCount: Int64 { 0 }
    var subscribers: [TaskID] { [taskID] }

    func onAttemptEnd(_ progress: AttemptProgress.Snapshot) {}

    /// Makes a request of this task, and makes it again if the server refuses the profile's credential and the
    /// profile's hook has renewed it. The parameters are those of `makeRequest`.
    func attempt(
        _ request: TransferRequest, into sink: BodySink, countingFrom origin: Int64 = 0,
        tellsRedirects: Bool = true, configure: (inout Attempt) -> Void,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> AttemptOutcome {
        let (outcome, beganBody, secret) = try await makeRequest(
            request, into: sink, countingFrom: origin, tellsRedirects: tellsRedirects, configure: configure,
            onEvent: onEvent)
        // Bytes that the attempt has written belong to its end, which the caller has to handle first.
        guard outcome.head?.status == 401, !beganBody, let refusal = refusal(of: outcome, sentWith: secret),
            !control.isStopRequested,
            await services.renewal.renew(after: refusal), !control.isStopRequested
        else { return outcome }
        return try await makeRequest(
            request, into: sink, countingFrom: origin, tellsRedirects: tellsRedirects, configure: configure,
            onEvent: onEvent
        ).outcome
    }

    /// The refused credential, or nil unless the task uses its profile's credential and a 401 is a failure.
    private func refusal(of outcome: AttemptOutcome, sentWith secret: Int?) -> CredentialRenewal.Refusal? {
        let request = specification.request
        guard let profile = specification.profile, let secret,
            !request.acceptedStatus.contains(401)
        else { return nil }
        return CredentialRenewal.Refusal(
            request: request, profile: profile, task: taskID, origin: outcome.finalURL.origin, secret: secret)
    }

    /// Makes a request of this task and handles its events: resolves the secrets, applies limits that change while the
    /// attempt starts, records which servers answer and saves the cookies.
    ///
    /// - Parameters:
    ///   - request: the task's own, or one derived from it.
    ///   - origin: the offset from which received bytes count; see `RunControl.begin`.
    ///   - tellsRedirects: true if redirects become events of the task.
    ///   - configure: sets the engine's options for this kind of run.
    ///   - onEvent: is called with every event but the last. An error it throws stops the attempt, and is thrown when
    ///     that has ended.
    /// - Returns: the outcome, and true if bytes of a download were written before it.
    /// - Throws: `TransferError`, `StoreError`, and the errors of `onEvent`.
    private func makeRequest(
        _ request: TransferRequest, into sink: BodySink, countingFrom origin: Int64,
        tellsRedirects: Bool, configure: (inout Attempt) -> Void,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> (outcome: AttemptOutcome, beganBody: Bool, secret: Int?) {
        // The run is stopped when its lease is over, but another daemon may already make the same request.
        guard services.leases.isInForce(specification.schedule.lease) else { throw FileError.cancelled }
        let rates = ratesOfEach(besides: 1)
        let begunAt = Clocks.monotonic()
        var (cookieJar, secret): (String?, Int?)
        // Assumed until the engine reports otherwise.
        attemptState.requestWasSent = true
        let handle: AttemptHandle
        let continued = attemptState.begun
        if let begun = continued, case .file(let descriptor) = sink {
            attemptState.begun = nil
            handle = begun
            await services.engine.move(begun.id, to: descriptor)
        } else {
            (handle, cookieJar, secret) = try await begin(request, into: sink, rates, configure)
        }
        if !control.begin(handle, countingFrom: origin) { await services.engine.stop(handle.id) }
        // The limits changed while the attempt was being started and had no id yet, or other attempts must get a
        // smaller share. A brief run's attempt has those that were in force at its beginning.
        if continued != nil || rates != ratesOfEach() || rates != attemptState.maxRates { await shareRates() }

        var ended: AttemptOutcome?
        var failure: (any Error)?
        var beganBody = false
        for await event in handle.events {
            logLaxTrust()
            if case .finished(let outcome) = event {
                ended = outcome
                continue
            }
            if event.beginsBody { beganBody = true }
            guard failure == nil else { continue }
            do {
                if tellsRedirects || !event.isRedirect { try await apply(event) }
                try await onEvent(event, handle)
            } catch {
                failure = error
                await services.engine.stop(handle.id)
            }
        }
        control.end(handle, received: failure == nil ? ended?.offset ?? keptByteCount : keptByteCount)
        onAttemptEnd(handle.progress.snapshot)
        if let ended {
            attemptState.requestWasSent = ended.requestWasSent
            services.recordProof(ended, since: begunAt)
        }
        // The attempts that go on get a larger share.
        if attemptState.maxRates != BandwidthLimits(), !control.attempts.isEmpty { await shareRates() }
        try await services.cookies.save(cookieJar)
        if let failure { throw failure }
        guard let ended else { throw TransferError(.internalError, "the attempt ended without an outcome") }
        return (ended, beganBody, secret)
    }

    /// Resolves the secrets, and starts the attempt. Also returns the name of the cookie jar that it uses, and the
    /// `CredentialRenewal.stamp` of the profile's credential, if it uses that.
    ///
    /// Not inlined, so that later steps use the memory that it needs: an attempt may take days.
    @inline(never)
    private func begin(
        _ request: TransferRequest, into sink: BodySink, _ rates: BandwidthLimits, _ configure: (inout Attempt) -> Void
    ) async throws -> (AttemptHandle, cookieJar: String?, secret: Int?) {
        let access = try await services.access.access(
            to: specification.request, profile: specification.profile,
            isGuests: !settings.hasOperatorRights(specification))
        let usesProfile = specification.request.usesProfileCredential && specification.request.credential == nil
        let secret = usesProfile ? access.credential.map(CredentialRenewal.stamp) : nil
        trust.beginAttempt()
        var attempt = Attempt(
            request: request, sink: sink, credential: access.credential, cookieJar: access.cookieJar,
            maxReceiveRate: rates.receive, maxSendRate: rates.send, rateScopes: specification.rateScopes,
            session: access.sessions(heldTo: trust),
            onServer: { [trust] in trust.record($0) })
        attempt.cookies = request.cookies.map(\.netscapeLine)
        attempt.leastRate = settings.leastRate(of: request)
        configure(&attempt)
        return (await services.engine.start(attempt), access.cookieJar, secret)
    }

    private func apply(_ event: AttemptEvent) async throws {
        switch event {
        case .redirected(let status, let from, let to, let decision):
            pendingEvents.append(
                .taskRedirected(
                    status: status, from: from.description, to: to.description,
                    decision: decision == .followed ? nil : decision))
        case .judged(let verdict):
            try await report(verdict)
        case .informational, .response, .head, .checkpointDue, .finished:
            break
        }
    }

    /// The rate limit in bytes per second; 0 is unlimited; takes effect on the live attempt at once.
    func setMaxRates(receive: Int64, send: Int64) async { await setOwnMaxRates(receive: receive, send: send) }

    /// The default implementation of `setMaxRates`, for a type that makes the attempts itself.
    func setOwnMaxRates(receive: Int64, send: Int64) async {
        attemptState.maxRates = BandwidthLimits(receive: receive, send: send)
        await shareRates()
    }

    /// Divides the task's limits equally among its live attempts.
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
        return BandwidthLimits(receive: part(attemptState.maxRates.receive), send: part(attemptState.maxRates.send))
    }
}

extension ManagerSettings {
    /// The least rate of a request's connections.
    func leastRate(of request: TransferRequest) -> LeastRate {
        LeastRate(
            rate: request.leastRate.rate ?? minReceiveRate, time: request.leastRate.time ?? minReceiveTime.inSeconds)
    }
}

extension AttemptEvent {
    /// True if bytes of a download follow.
    fileprivate var beginsBody: Bool {
        switch self {
        case .head(_, .write, _), .head(_, .restart, _): true
        case .head, .redirected, .judged, .informational, .response, .checkpointDue, .finished: false
        }
    }

    fileprivate var isRedirect: Bool {
        if case .redirected = self { true } else { false }
    }
}

extension TaskSpecification {
    /// The scopes whose rate limits the task's requests share with other tasks.
    var rateScopes: [RateScope] {
        [.service] + (group.map { [.group(GroupKey(owner: owner, name: $0))] } ?? [])
            + (profile.map { [.profile($0)] } ?? [])
    }
}

extension AttemptMaker {
    /// The directory that the task named, or `destinationUnavailable`.
    func openDirectory(_ location: PartialLocation) async throws -> DirectoryHandle {
        try await DestinationDirectory.open(
            location, for: specification.owner, specification.destination.confinement, settings, services)
    }

    /// Opens the directory of a transfer's bytes, which another holder's task may have named.
    func openDirectory(of transfer: Transfer) async throws -> DirectoryHandle {
        try await DestinationDirectory.open(transfer, for: specification, settings, services)
    }
}

/// Reports to operators how an attempt's connections were judged.
extension AttemptMaker {
    /// Reports at once the refusals of `report_only` policies. Other refusals are part of the outcome.
    func report(_ verdict: TrustVerdict) async throws {
        guard !verdict.violations.isEmpty else { return }
        for violation in verdict.violations {
            services.logger.warning(
                "a report-only trust policy would have refused a server",
                metadata: ["task": "\(taskID)", "failure": "\(violation)"])
        }
        let (ids, now) = (subscribers, services.clock())
        try await services.store.write { tx in
            for id in ids {
                guard let task = try tx.tasks.find(id) else { continue }
                for violation in verdict.violations {
                    try tx.events.append(.policyViolation(failure: violation), taskID: id, owner: task.owner, at: now)
                }
            }
        }
    }

    func logLaxTrust() { services.logLaxTrust(trust, of: taskID) }
}

extension RunServices {
    /// Records if the attempt's last response shows that the network is not behind a portal.
    func recordProof(_ ended: AttemptOutcome, since begin: MonotonicInstant) {
        guard let head = ended.head else { return }
        networkProof.withLockedValue { $0.onResponse(head, from: ended.finalURL, since: begin) }
    }
}

extension RunServices {
    /// Reminds operators of policies with `allow_invalid_certificates` that were used.
    func logLaxTrust(_ trust: RunTrust, of task: TaskID) {
        for use in trust.removeLaxUses() {
            logger.warning(
                "a trust policy allows invalid certificates",
                metadata: [
                    "policy": "\(use.policy)", "version": "\(use.version)", "host": "\(use.host)", "task": "\(task)",
                ])
        }
    }
    /// Logs each announced digest of a response that was ignored, and the reason.
    func logIgnoredDigests(of head: ResponseHead, for request: TransferRequest, _ task: TaskID) {
        for reason in request.ignoredDigests(of: head) {
            logger.notice(
                "an announced digest was ignored",
                metadata: ["task": "\(task)", "host": "\(request.url.hostKey)", "reason": "\(reason)"])
        }
    }
}
