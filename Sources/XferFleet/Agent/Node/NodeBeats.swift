import Logging
import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferManager
import XferModel
import XferSystem

/// The node's beats, the daemon's lease, which depends on them, and the node's work for the whole fleet.
final class NodeBeats: NodePart {
    let context: NodeContext
    /// The answer to a beat that was sent while the agent slept.
    let answered = NIOLockedValueBox<AnsweredBeat?>(nil)
    var lastBeatAt: MonotonicInstant?
    /// The time of the daemon's last answer.
    var lastAnswerAt: MonotonicInstant?
    var observer = BeatObserver()
    /// The beat for which the daemon got its lease.
    private var leasedFor: MonotonicInstant?
    private var lastTrimAt: MonotonicInstant?
    /// The time at which the node last cleared the list of tasks that it refuses; nil clears it at once.
    private var forgotRefusalsAt: MonotonicInstant?
    /// The rates that xferd has from this agent; nil if that is not known yet.
    private var appliedRates: FleetRates?

    /// The answer to a beat that was sent ahead.
    struct AnsweredBeat: Sendable {
        let of: FleetRegistration
        /// The time of sending, or an earlier one.
        let sentAt: MonotonicInstant
        let answer: Result<FleetBeat?, FleetError>
    }

    init(_ context: NodeContext) { self.context = context }

    /// Lets the next beat renew the lease of a daemon that did not answer for a while.
    func forgetDaemon() { (leasedFor, forgotRefusalsAt) = (nil, nil) }

    /// Sets the rates again: the daemon has another database.
    func forgetDatabaseOfDaemon() { appliedRates = nil }

    /// Resets the times for a new registration, which sends a beat at once.
    func restart() { (lastBeatAt, leasedFor, forgotRefusalsAt) = (nil, nil, nil) }

    // MARK: Beats

    /// Sends a beat if one is due, or takes the answer to one that was sent ahead.
    ///
    /// - Parameter isFree: true if the node keeps no task from others; see `mayBeat`.
    func beatIfDue(
        _ registration: FleetRegistration, isFree: Bool
    ) async throws -> (answer: FleetBeat?, sentAt: MonotonicInstant)? {
        let early = answered.withLockedValue { answered in
            defer { answered = nil }
            return answered
        }
        if let early, early.of == registration { return (try early.answer.get(), early.sentAt) }
        let now = Clocks.monotonic()
        guard rules.isBeatDue(lastSentAt: lastBeatAt, at: now), mayBeat(at: now, isFree: isFree) else { return nil }
        return (try await database.nodes.beat(registration, figures: nil), now)
    }

    /// Records whether the node has no tasks and its daemon answers: then it blocks no task of others.
    ///
    /// - Parameter isFree: true if it has no tasks and its daemon answers.
    func mayBeat(at now: MonotonicInstant, isFree: Bool) -> Bool {
        isFree || rules.mayBeat(lastAnswerAt: lastAnswerAt, at: now)
    }

    /// Lets the daemon run tasks of the fleet for as long as the last beat allows.
    func renewLease() async throws {
        guard let lastBeatAt, leasedFor != lastBeatAt, isDaemonWell else { return }
        let now = Clocks.monotonic()
        try await daemon.renew(until: rules.leaseEnd(beatSentAt: lastBeatAt))
        (leasedFor, lastAnswerAt) = (lastBeatAt, now)
    }

    /// Checks the other nodes, and takes over the tasks of nodes that are down.
    func observe(_ nodes: [FleetNodeRow], _ registration: FleetRegistration) async throws {
        let now = Clocks.monotonic()
        let others = nodes.filter { !$0.isDown }
        observer.observe(
            Dictionary(
                others.map { ($0.description.name, BeatObserver.Beat(incarnation: $0.incarnation, count: $0.beat)) }
            ) { first, _ in first }, at: now)
        let isDraining = nodes.first { $0.id == registration.node }?.isDraining
        nodeStatus.withLockedValue {
            ($0.nodes, $0.observer, $0.isDraining) = (nodes, observer, isDraining ?? $0.isDraining)
        }
        let dead = Set(observer.dead(rules, own: registration.name, at: now))
        for row in nodes where dead.contains(row.description.name) || row.needsTakeover {
            let name = row.description.name
            guard try await database.takeovers.takeOver(row) else { continue }
            announcer.announce()
            logger.warning("a node is down: other nodes take over its tasks", metadata: ["node": "\(name)"])
            changes.ring()
        }
    }

    /// Gives xferd the node's share of the fleet's rates. Without any the node has its own limits.
    func shareRates(_ rates: FleetRates, _ registration: FleetRegistration) async throws {
        guard rates != appliedRates, isDaemonWell else { return }
        if rates.isLimited {
            try await database.limits.setShare(registration, true)
            try await daemon.setRates(
                receive: rates.receive > 0 ? rates.receiveShare : nil, send: rates.send > 0 ? rates.sendShare : nil)
        } else if try await database.limits.hasShare(registration) {
            try await daemon.setRates(receive: nil, send: nil)
            try await database.limits.setShare(registration, false)
        }
        appliedRates = rates
    }

    /// Returns true if there were any.
    func forgetRefusals(_ registration: FleetRegistration, _ now: MonotonicInstant) async throws -> Bool {
        guard forgotRefusalsAt.map({ $0.duration(to: now) >= rules.refusalLength }) ?? true else { return false }
        let hadSome = try await database.nodes.forgetRefusals(registration)
        forgotRefusalsAt = now
        return hadSome
    }

    /// Does the work for the fleet as a whole, which every node does.
    func tidy(_ now: MonotonicInstant, hasDue: Bool) async throws {
        if hasDue {
            while try await database.tasks.wakeDelayed() >= 500 {}
            announcer.announce()
        }
        guard lastTrimAt.map({ $0.duration(to: now) >= .seconds(60) }) ?? true else { return }
        lastTrimAt = now
        let settings = configuration.settings
        _ = try await database.events.trim(
            keepEvents: Int64(clamping: settings.service.retention.maxEvents),
            history: settings.service.retention.maxHistoryAge)
    }
}
