import Logging
import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferFleet
import XferModel
import XferSystem

/// The beats, and the work of each.
extension NodeAgent {
    /// Beats, renews the daemon's lease, and checks the other nodes.
    ///
    /// - Returns: true if the database has work for the node.
    func beat(_ registration: FleetRegistration) async throws -> Bool {
        guard let (answer, sentAt) = try await beatIfDue(registration) else { return false }
        guard let answer else {
            try await onLostRegistration(registration)
            return false
        }
        onDatabaseAnswer()
        lastBeatAt = sentAt
        if mountedStorages() != registeredStorages {
            // Without beats there was no look, as while the database was away.
            await storages.firstCheck(atMost: rules.beatInterval)
        }
        guard mountedStorages() == registeredStorages else {
            logger.notice("the mounted shared storages have changed: the node registers again")
            self.registration = nil
            wakeSignal.ring()
            return false
        }
        storages.look()
        if !isIdle { try await renewLease() } else if isListening { lastAnswerAt = sentAt }
        try await observe(answer.nodes, registration)
        try await shareRates(answer.rates, registration)
        try await tokens?.refresh()
        try await tidy(sentAt, hasDue: answer.hasDue)
        let mayTakeMore = try await forgetRefusals(registration, sentAt)
        try await reportRunning(registration)
        return answer.hasWork || mayTakeMore
    }

    private func beatIfDue(
        _ registration: FleetRegistration
    ) async throws -> (answer: FleetBeat?, sentAt: MonotonicInstant)? {
        let early = answeredBeat.withLockedValue { answered in
            defer { answered = nil }
            return answered
        }
        if let early, early.of == registration { return (try early.answer.get(), early.sentAt) }
        let now = Clocks.monotonic()
        guard rules.isBeatDue(lastSentAt: lastBeatAt, at: now), mayBeat(at: now) else { return nil }
        return (try await database.beat(registration, figures: nil), now)
    }

    /// True if the node may beat. A node without tasks may beat as long as its daemon exists at all.
    func mayBeat(at now: MonotonicInstant) -> Bool {
        isIdle && isListening || rules.mayBeat(lastAnswerAt: lastAnswerAt, at: now)
    }

    var isIdle: Bool { claimed.count == 0 && unadded.isEmpty }
    var isListening: Bool { eventStream.withLockedValue { $0.isConnected } }

    /// Allows the daemon to run tasks of the fleet for as long as the last beat allows.
    func renewLease() async throws {
        guard let lastBeatAt, leasedFor != lastBeatAt, nodeStatus.withLockedValue({ $0.daemonProblem == nil }) else {
            return
        }
        let now = Clocks.monotonic()
        try await daemon.renew(until: rules.leaseEnd(beatSentAt: lastBeatAt))
        (leasedFor, lastAnswerAt) = (lastBeatAt, now)
    }

    private func observe(_ nodes: [FleetNodeRow], _ registration: FleetRegistration) async throws {
        let now = Clocks.monotonic()
        let others = nodes.filter { !$0.isDown }
        observer.observe(
            Dictionary(
                others.map { ($0.description.name, BeatObserver.Beat(incarnation: $0.incarnation, count: $0.beat)) }
            ) { first, _ in first }, at: now)
        isDraining = nodes.first { $0.id == registration.node }?.isDraining ?? isDraining
        nodeStatus.withLockedValue { ($0.nodes, $0.observer, $0.isDraining) = (nodes, observer, isDraining) }
        let dead = Set(observer.dead(rules, own: registration.name, at: now))
        for row in nodes where dead.contains(row.description.name) || row.needsTakeover {
            let name = row.description.name
            guard try await database.takeOver(row) else { continue }
            announcer.announce()
            logger.warning("a node is down, its tasks are taken over", metadata: ["node": "\(name)"])
            changes.ring()
        }
    }

    /// Sends xferd the node's share of the fleet's rates. Without a share the node has its own limits.
    private func shareRates(_ rates: FleetRates, _ registration: FleetRegistration) async throws {
        guard rates != appliedRates, nodeStatus.withLockedValue({ $0.daemonProblem == nil }) else { return }
        if rates.isLimited {
            try await database.setShare(registration, true)
            try await daemon.setRates(
                receive: rates.receive > 0 ? rates.receiveShare : nil, send: rates.send > 0 ? rates.sendShare : nil)
        } else if try await database.hasShare(registration) {
            try await daemon.setRates(receive: nil, send: nil)
            try await database.setShare(registration, false)
        }
        appliedRates = rates
    }

    /// Returns whether there were any.
    private func forgetRefusals(_ registration: FleetRegistration, _ now: MonotonicInstant) async throws -> Bool {
        guard forgotRefusalsAt.map({ $0.duration(to: now) >= rules.refusalLength }) ?? true else { return false }
        let hadSome = try await database.forgetRefusals(registration)
        forgotRefusalsAt = now
        return hadSome
    }

    /// Work for the fleet as a whole, which every node does.
    private func tidy(_ now: MonotonicInstant, hasDue: Bool) async throws {
        if hasDue {
            while try await database.wakeDelayed() >= 500 {}
            announcer.announce()
        }
        guard lastTrimAt.map({ $0.duration(to: now) >= .seconds(60) }) ?? true else { return }
        lastTrimAt = now
        let settings = configuration.settings
        _ = try await database.trim(
            keepEvents: Int64(clamping: settings.events.maxCount), history: settings.history.maxAge)
    }
}
