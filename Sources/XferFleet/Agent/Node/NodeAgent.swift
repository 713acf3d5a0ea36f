import Logging
import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferModel
import XferProtocol
import XferSystem

/// Makes the node's daemon work for the fleet: beats, carries wishes out, claims tasks and reports their ends.
///
/// One round is repeated for as long as the agent lives. A round that fails anywhere is repeated without harm: claims
/// are durable in the database, tasks and their ends in the daemon.
actor NodeAgent: NodePart {
    nonisolated let context: NodeContext
    /// Read again with every beat; nil if the agent does not listen on the network.
    private let tokens: FleetTokens?
    let events: DaemonEvents
    let work: NodeWork
    let beats: NodeBeats

    /// The node's place in the fleet; nil until it has registered.
    var registration: FleetRegistration?
    /// The state that a database thread watches while the agent sleeps.
    var watched: Watched?
    /// Shared storages that the registration names.
    private var registeredStorages: Set<String> = []
    /// The database of the daemon; nil until it has answered.
    private var storeID: String?
    /// The last beat of a node with this name and another store.
    private var rival: BeatObserver.Beat?

    init(_ context: NodeContext, tokens: FleetTokens?) {
        self.context = context
        self.tokens = tokens
        events = DaemonEvents(context)
        work = NodeWork(context)
        beats = NodeBeats(context)
    }

    /// True if the node blocks no task of others, as long as its daemon answers.
    var isFree: Bool { work.isIdle && events.isConnected }

    /// Works until the Swift task is cancelled.
    ///
    /// - Throws: `FleetError.superseded` if another agent has taken the node's name, `nodeNameTaken` if it has it.
    func run() async throws(FleetError) {
        let listening = Task { [events] in await events.listen() }
        defer { listening.cancel() }
        var isRung = true
        while !Task.isCancelled {
            do {
                try await round(isRung)
            } catch let error as FleetError {
                try await onDatabaseFailure(error)
            } catch {
                onDaemonFailure(error)
            }
            isRung = await rest()
        }
    }

    /// Performs one round of work.
    ///
    /// - Parameter isRung: true if there may be work other than a beat.
    private func round(_ isRung: Bool) async throws {
        let isReachable = await probe()
        if registration == nil {
            guard isReachable else { return }
            try await join()
        }
        guard let registration else { return }
        let hasWork = try await beat(registration)
        guard isReachable, self.registration == registration else { return }
        if isRung || hasWork {
            try await work.carryOutRequests(registration)
            try await beats.renewLease()
            try await work.claim(registration)
        }
        if events.takePending() || work.claimed.count > 0 {
            while try await work.collectEnds(registration) { try await work.report(registration) }
        }
        try await work.publishStaged(registration)
        try await work.report(registration)
    }

    // MARK: Beats

    /// Beats, renews the daemon's lease, and checks the other nodes.
    ///
    /// - Returns: true if the database has work for the node.
    private func beat(_ registration: FleetRegistration) async throws -> Bool {
        guard let (answer, sentAt) = try await beats.beatIfDue(registration, isFree: isFree) else { return false }
        guard let answer else {
            try await onLostRegistration(registration)
            return false
        }
        onDatabaseAnswer()
        beats.lastBeatAt = sentAt
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
        storages.check()
        if !work.isIdle { try await beats.renewLease() } else if events.isConnected { beats.lastAnswerAt = sentAt }
        try await beats.observe(answer.nodes, registration)
        try await beats.shareRates(answer.rates, registration)
        try await tokens?.refresh()
        try await beats.tidy(sentAt, hasDue: answer.hasDue)
        let mayTakeMore = try await beats.forgetRefusals(registration, sentAt)
        try await work.reportRunning(registration)
        return answer.hasWork || mayTakeMore
    }

    // MARK: The daemon

    /// True if the daemon answers. It is called at the start, after each failure, and while the daemon sends no events,
    /// because it could be another daemon. Otherwise the renewal of the lease with each beat shows it. A node whose
    /// daemon was silent for too long does not beat, so it calls the daemon, too.
    private func probe() async -> Bool {
        let now = Clocks.monotonic()
        let isRecent = beats.lastAnswerAt.map { $0.duration(to: now) < rules.beatInterval * 2 } ?? false
        if isDaemonWell, storeID != nil, events.isConnected, work.isIdle || isRecent { return true }
        do {
            let status = try await daemon.status()
            beats.lastAnswerAt = now
            if let storeID, storeID != status.storeID {
                logger.warning("xferd has another database: the node registers again")
                beats.forgetDatabaseOfDaemon()
                registration = nil
            }
            storeID = status.storeID
            let wasAway = nodeStatus.withLockedValue { nodeStatus in
                defer { nodeStatus.daemonProblem = nil }
                return nodeStatus.daemonProblem != nil
            }
            if wasAway {
                beats.forgetDaemon()
                logger.notice("xferd answers", metadata: ["socket": "\(configuration.fleet.daemon)"])
            }
            return true
        } catch {
            onDaemonFailure(error)
            return false
        }
    }

    private func onDaemonFailure(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let problem = "\(error)"
        let isNew = nodeStatus.withLockedValue { nodeStatus in
            defer { nodeStatus.daemonProblem = problem }
            return nodeStatus.daemonProblem == nil
        }
        if isNew { logger.warning("the node's xferd cannot be used: \(problem)") }
    }

    // MARK: The fleet

    /// Registers, and compares the fleet's list of the node's tasks with the daemon's tasks.
    private func join() async throws {
        guard let storeID else { return }
        let fleet = configuration.fleet
        await storages.firstCheck(atMost: rules.beatInterval)
        registeredStorages = mountedStorages()
        let description = FleetNodeDescription(
            name: configuration.node, labels: Set(fleet.labels), storages: registeredStorages, slots: fleet.slots,
            storeID: storeID,
            version: configuration.instance.options.programVersion)
        guard let registration = try await register(description) else { return try await watchRival(description.name) }
        rival = nil
        nodeStatus.withLockedValue { $0.fleet = registration.fleet }
        try await work.reconcile(registration)
        self.registration = registration
        beats.restart()
        logger.notice(
            "the node is in the fleet",
            metadata: [
                "node": "\(registration.name)", "incarnation": "\(registration.incarnation)",
                "holds": "\(work.claimed.count)",
            ])
    }

    private func mountedStorages() -> Set<String> {
        storages.mounted(within: rules.beatInterval * 3, at: Clocks.monotonic())
    }

    /// Registers the node. Returns nil if the name belongs to another store.
    private func register(_ node: FleetNodeDescription) async throws -> FleetRegistration? {
        do {
            return try await database.nodes.register(node)
        } catch {
            guard case .nodeNameTaken = error else { throw error }
            return nil
        }
    }

    /// Watches another store that has the node's name: a live machine, or one that this one replaces.
    ///
    /// - Throws: `nodeNameTaken` once the other one was seen to beat.
    private func watchRival(_ node: String) async throws {
        guard let row = try await database.nodes.list().first(where: { $0.description.name == node }) else { return }
        let (beat, now) = (BeatObserver.Beat(incarnation: row.incarnation, count: row.beat), Clocks.monotonic())
        if let rival, rival != beat { throw FleetError.nodeNameTaken(node: node) }
        if rival == nil {
            logger.notice(
                "waiting until another store's node of the same name has ended", metadata: ["node": "\(node)"])
        }
        rival = beat
        beats.observer.observe([node: beat], at: now)
        guard beats.observer.liveness(of: node, rules, at: now) == .dead, try await database.takeovers.takeOver(row)
        else {
            return
        }
        rival = nil
        beats.observer.restart()
    }

    /// A beat hit no row.
    private func onLostRegistration(_ registration: FleetRegistration) async throws {
        self.registration = nil
        let row = try await database.nodes.list().first { $0.description.name == registration.name }
        if let row, row.incarnation > registration.incarnation { throw FleetError.superseded(node: registration.name) }
        logger.warning("the fleet considered this node down or removed it: it registers again")
    }

    private func onDatabaseAnswer() {
        let wasAway = nodeStatus.withLockedValue { nodeStatus in
            defer { nodeStatus.databaseProblem = nil }
            return nodeStatus.databaseProblem != nil
        }
        if wasAway { logger.notice("the fleet's database answers") }
    }

    /// Handles a failure of the database.
    ///
    /// - Throws: errors that another round cannot repair.
    private func onDatabaseFailure(_ error: FleetError) async throws(FleetError) {
        switch error {
        case .superseded(let node):
            // A beat finds out whether another agent has the name, or the fleet called this node down.
            if registration == nil { throw error }
            guard let nodes = try? await database.nodes.list(), let mine = registration else { return }
            registration = nil
            if nodes.contains(where: { $0.description.name == node && $0.incarnation > mine.incarnation }) {
                throw error
            }
        case .newerSchema, .olderSchema, .notMigrated, .unsuitable, .nodeNameTaken: throw error
        default:
            beats.observer.restart()
            let problem = "\(error)"
            let isNew = nodeStatus.withLockedValue { nodeStatus in
                defer { nodeStatus.databaseProblem = problem }
                return nodeStatus.databaseProblem == nil
            }
            if isNew { logger.warning("the fleet's database cannot be used: \(problem)") }
        }
    }
}

/// The known state of the node, for handlers and metrics.
struct NodeStatus: Sendable {
    var fleet = ""
    var databaseProblem: String?
    var daemonProblem: String? = "it has not been called yet"
    var isDraining = false
    var nodes: [FleetNodeRow] = []
    var observer = BeatObserver()
    var claimed = 0
    var claims: Int64 = 0
    var ends: Int64 = 0
    var lost: Int64 = 0
}
