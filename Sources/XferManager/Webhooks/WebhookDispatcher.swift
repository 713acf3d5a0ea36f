import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferSystem

/// Sends events to the operator's webhooks, each at least once: a row requests a delivery and is removed once the
/// receiver has accepted it.
///
/// Deliveries are no tasks. They are in no listing, count or event, and take no slot of the scheduler.
actor WebhookDispatcher: ManagerPart {
    nonisolated let context: ManagerContext
    /// The attempts in progress, by the id of their first delivery.
    private var runs: [Int64: WebhookRun] = [:]
    private var slots = DeliverySlots()
    /// Ended attempts whose end is not committed yet, by the id of their first delivery.
    private var unsettled: [Int64: EndedAttempt] = [:]
    /// Deliveries that ended since the current read began, which may still return them.
    private var justEnded: Set<Int64> = []
    /// The webhook that was served last: the next pass begins after it.
    private var lastServed = ""
    private var isPassing = false
    private var isWanted = false
    private var timer = WakeTimer()
    /// The time that the timer waited for, until the next pass: it has come, even if the wall clock was set back since.
    private var reached: Timestamp?
    private var endWaiters: [CheckedContinuation<Void, Never>] = []
    private var random = SystemRandomNumberGenerator()

    init(context: ManagerContext) { self.context = context }

    /// Starts the deliveries that are due. Call it after a commit that recorded some.
    func wake() async {
        isWanted = true
        guard !isPassing else { return }
        isPassing = true
        while isWanted, maySend {
            isWanted = false
            justEnded = []
            do {
                for attempt in Array(unsettled.values) { try await commit(attempt) }
                let now = max(clock(), reached ?? clock())
                reached = nil
                try await startDue(at: now)
            } catch {
                logger.report("deliveries to webhooks could not be read", error)
            }
        }
        isPassing = false
    }

    /// Ends waits that a clock ahead of time has begun, and starts deliveries that are due. Call it at the start, and
    /// when the wall clock was set.
    func onClockSet() async {
        timer.disarm()
        reached = nil
        let now = clock()
        do {
            if try await store.read({ try $0.deliveries.webhook(after: "") }) != nil {
                try await store.write { try $0.deliveries.capWaits(at: now, longest: DeliveryRules.longestWait) }
            }
        } catch {
            logger.report("deliveries to webhooks could not be moved to the new time", error)
        }
        await wake()
    }

    /// Stops the attempts that these policies and rules would judge otherwise; they are repeated under them.
    func stopStale(under policies: PolicyRegistry, _ rules: AdmissionRules, at now: Timestamp) async {
        for run in runs.values where run.trust.isStale(under: policies, rules, at: now) { await run.stop() }
    }

    /// Returns when the attempts in progress have ended. Shut the engine down first.
    func shutdown() async {
        timer.disarm()
        guard !runs.isEmpty else { return }
        await withCheckedContinuation { endWaiters.append($0) }
    }

    private var maySend: Bool { !isShuttingDown && store.degradation == nil }

    // MARK: Starting

    /// The highest number of bytes of events in one request; a single longer event is sent alone.
    private static let batchBytes = 1 << 20

    /// An attempt that has ended, with the deliveries that it sent.
    private struct EndedAttempt: Sendable {
        let deliveries: [WebhookDelivery]
        let end: DeliveryEnd
    }

    /// A webhook with deliveries that wait.
    private struct Backlog: Sendable {
        let name: String
        let receiver: WebhookReceiverState
        /// Deliveries grouped by request: one delivery each for a webhook without batches.
        let due: [[WebhookDelivery]]
        let next: Timestamp?
    }

    private func startDue(at now: Timestamp) async throws {
        let limit = DeliverySlots.maxAtOnce + runs.count + unsettled.count
        let definitions = definitions
        var backlogs = try await store.read { try Self.backlogs(in: $0, definitions, limit: limit, at: now) }
        for backlog in backlogs where definitions[backlog.name] == nil { try await giveUpAll(of: backlog.name) }
        // None is served before the others each time.
        let turn = backlogs.firstIndex { $0.name > lastServed } ?? 0
        backlogs = Array(backlogs[turn...] + backlogs[..<turn])
        var wakeUps: [Timestamp] = []
        for backlog in backlogs {
            guard let definition = definitions[backlog.name] else { continue }
            if let pausedUntil = backlog.receiver.pausedUntil, pausedUntil > now {
                wakeUps.append(pausedUntil)
                continue
            }
            if let next = backlog.next { wakeUps.append(next) }
            for deliveries in backlog.due { start(deliveries, definition, isFailing: backlog.receiver.failures > 0) }
        }
        guard maySend else { return }
        timer.arm(for: wakeUps.min(), now: clock()) { [weak self] target in await self?.onTimer(target) }
    }

    private static func backlogs(
        in reader: StoreReader, _ definitions: [String: WebhookDefinition], limit: Int, at now: Timestamp
    ) throws -> [Backlog] {
        var found: [Backlog] = []
        while let name = try reader.deliveries.webhook(after: found.last?.name ?? "") {
            let receiver = try reader.deliveries.receiverState(ofWebhook: name)
            if let definition = definitions[name], definition.isBatched {
                // In the order of the events, also after a refusal: the receiver's pause is the only wait.
                let oldest = try reader.deliveries.oldest(of: name, limit: definition.batch, bytes: batchBytes)
                found.append(Backlog(name: name, receiver: receiver, due: [oldest], next: nil))
            } else {
                found.append(
                    Backlog(
                        name: name, receiver: receiver,
                        due: try reader.deliveries.due(of: name, now: now, limit: limit).map { [$0] },
                        next: try reader.deliveries.next(of: name, after: now)))
            }
        }
        return found
    }

    private var definitions: [String: WebhookDefinition] {
        let all = context.settings.withLockedValue(\.webhooks)
        return Dictionary(all.map { ($0.name, $0) }) { $1 }
    }

    /// Sends deliveries in one request, unless its slots are taken. Requests of batches are made one at a time, so that
    /// they arrive in the order of the events.
    private func start(_ deliveries: [WebhookDelivery], _ webhook: WebhookDefinition, isFailing: Bool) {
        guard let first = deliveries.first else { return }
        let host = webhook.url.hostKey
        guard maySend, runs[first.id] == nil, !isUnsettled(first, webhook),
            !deliveries.contains(where: { justEnded.contains($0.id) }),
            slots.mayStart(webhook: webhook.name, host: host, isFailing: isFailing || webhook.isBatched)
        else { return }
        lastServed = webhook.name
        slots.start(webhook: webhook.name, host: host)
        // Another key for other events: those of a batch follow from its first, its last, and their number.
        let last = deliveries.last ?? first
        let key = webhook.isBatched ? "\(first.key)-\(last.id)-\(deliveries.count)" : first.key
        let run = WebhookRun(
            webhook, key: key, events: deliveries.map(\.body), services: services, settings: settings)
        runs[first.id] = run
        let begunAt = clock()
        Task {
            let answer = await run.run()
            await onEnd(deliveries, webhook, begunAt: begunAt, answer)
        }
    }

    /// True if the end of an attempt at the delivery, or at an earlier batch, is not committed yet.
    private func isUnsettled(_ delivery: WebhookDelivery, _ webhook: WebhookDefinition) -> Bool {
        if !webhook.isBatched { return unsettled[delivery.id] != nil }
        return unsettled.values.contains { $0.deliveries.first?.webhook == webhook.name }
    }

    private func onTimer(_ target: Timestamp) async {
        timer.onFired()
        reached = target
        await wake()
    }

    // MARK: Ends

    private func onEnd(
        _ deliveries: [WebhookDelivery], _ webhook: WebhookDefinition, begunAt: Timestamp, _ answer: WebhookRun.Answer
    ) async {
        guard let first = deliveries.first else { return }
        let now = clock()
        let failure = answer.failure(from: webhook.url, at: now)
        var isSettled = true
        switch answer {
        case .stopped: isSettled = false
        // The shutdown may have ended the try; the next start makes it again.
        case .failure where isShuttingDown: isSettled = false
        case .failure, .head: break
        }
        if isSettled {
            let end = DeliveryEnd(
                status: answer.status, retryAfter: answer.retryAfter(at: now), failure: failure, begunAt: begunAt,
                isAgeKnown: services.ages.isTrusted, keepsOrder: webhook.isBatched, seed: random.next(), now: now)
            let attempt = EndedAttempt(deliveries: deliveries, end: end)
            unsettled[first.id] = attempt
            do {
                try await commit(attempt)
            } catch {
                logger.report("the result of a delivery could not be recorded; it may be sent again", error)
            }
        }
        runs[first.id] = nil
        slots.end(webhook: webhook.name, host: webhook.url.hostKey)
        if runs.isEmpty {
            for waiter in endWaiters { waiter.resume() }
            endWaiters = []
        }
        await wake()
    }

    private func commit(_ attempt: EndedAttempt) async throws {
        let (deliveries, end) = (attempt.deliveries, attempt.end)
        guard let first = deliveries.first else { return }
        let logEntry = try await store.write(.gathered) { try $0.deliveries.settle(deliveries, end) }
        unsettled[first.id] = nil
        if isPassing { justEnded.formUnion(deliveries.map(\.id)) }
        let facts: Logger.Metadata = ["webhook": "\(first.webhook)", "delivery": "\(first.key)"]
        let reason = facts.merging(["reason": "\(end.failure ?? "")"]) { $1 }
        switch logEntry {
        case .delivered(wasFailing: true): logger.notice("a webhook accepts deliveries again", metadata: facts)
        case .delivered: logger.debug("an event was delivered", metadata: facts)
        case .failing:
            logger.warning("a webhook did not accept a delivery; it is retried for 3 days", metadata: reason)
        case .failingStill: logger.debug("a webhook still does not accept deliveries", metadata: reason)
        case nil: break
        case .givenUp: logger.warning("an event was not delivered; it is not sent again", metadata: reason)
        }
    }

    /// Ends the deliveries of a webhook that is no longer defined.
    private func giveUpAll(of name: String) async throws {
        let now = clock()
        var receiver = try await store.read { try $0.deliveries.receiverState(ofWebhook: name) }
        receiver.lastFailedAt = now
        receiver.lastFailure = "the webhook \"\(name)\" is no longer configured"
        var count = 0
        while true {
            let step = try await store.write(.bulky) { [receiver] tx in
                try tx.deliveries.setReceiverState(receiver, ofWebhook: name)
                return try tx.deliveries.failOldest(of: name, keeping: 0, at: now)
            }
            guard step > 0 else { break }
            count += step
        }
        logger.warning(
            "events were discarded: their webhook is no longer configured",
            metadata: ["webhook": "\(name)", "count": "\(count)"])
    }
}
