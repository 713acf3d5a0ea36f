import Logging
import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferFleet
import XferModel
import XferProtocol
import XferSystem

/// Makes the node's daemon work for the fleet: beats, carries wishes out, claims tasks and reports their ends.
///
/// One round is repeated for as long as the agent lives. A round that fails anywhere is repeated without harm: claims
/// are durable in the database, tasks and their ends in the daemon.
actor NodeAgent {
    let configuration: AgentConfiguration
    let database: FleetDatabase
    let daemon: LocalDaemon
    let logger: Logger
    let changes: WakeSignals
    /// Read again with every beat; nil if the agent does not listen on the network.
    let tokens: FleetTokens?
    let storages: StorageMounts
    nonisolated let announcer: Announcer
    nonisolated let wakeSignal = WakeSignal()
    nonisolated let answeredBeat = NIOLockedValueBox<AnsweredBeat?>(nil)
    var watched: Watched?
    /// The received events of xferd that wait for the agent.
    nonisolated let eventStream = NIOLockedValueBox(EventStreamState())
    /// The node's state for handlers and metrics.
    nonisolated let nodeStatus = NIOLockedValueBox(NodeStatus())

    /// The node's place in the fleet; nil until it has registered.
    var registration: FleetRegistration?
    /// Shared storages that the registration names.
    var registeredStorages: Set<String> = []
    var claimed = ClaimedTasks()
    /// Claimed tasks that wait for a permit to be published, and the number of xferd's refusals to publish each.
    var staged: [TaskID: Int] = [:]
    /// Claimed, and not yet in the daemon.
    var unadded: [FleetClaim] = []
    /// The contents of the next report to the fleet; emptied after it.
    var outbox = Outbox()
    /// The daemon's last event whose effects are in `outbox` or in the fleet.
    var cursor: Int64 = 0
    var claimCursor = FleetClaimCursor()
    /// The rates that xferd has from this agent; nil if that is not known yet.
    var appliedRates: FleetRates?
    var recentEnds = 0
    var isDraining = false
    var observer = BeatObserver()
    /// The last beat of a node with this name and another store.
    var rival: BeatObserver.Beat?

    var storeID: String?
    var lastAnswerAt: MonotonicInstant?
    /// The beat whose lease the daemon has.
    var leasedFor: MonotonicInstant?
    var lastBeatAt: MonotonicInstant?
    var lastTrimAt: MonotonicInstant?
    /// The time at which the node last cleared the list of tasks that it refuses; nil clears it at once.
    var forgotRefusalsAt: MonotonicInstant?

    init(
        _ configuration: AgentConfiguration, database: FleetDatabase, daemon: LocalDaemon, changes: WakeSignals,
        tokens: FleetTokens?, logger: Logger
    ) {
        self.configuration = configuration
        self.database = database
        self.daemon = daemon
        self.changes = changes
        self.tokens = tokens
        self.logger = logger
        storages = StorageMounts(configuration.fleet.storages)
        announcer = Announcer(database, pause: configuration.interval / 5)
    }

    var rules: LeaseRules { configuration.rules }

    /// Works until the Swift task is cancelled.
    ///
    /// - Throws: `FleetError.superseded` if another agent has taken the node's name, `nodeNameTaken` if it has it.
    func run() async throws(FleetError) {
        let listener = Task { await listen() }
        defer { listener.cancel() }
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

    /// - Parameter isRung: whether there may be something to do besides a beat.
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
            try await carryOutRequests(registration)
            try await claim(registration)
        }
        if takePendingEvents() || claimed.count > 0 {
            while try await collectEnds(registration) { try await report(registration) }
        }
        try await publishStaged(registration)
        try await report(registration)
    }

    private func takePendingEvents() -> Bool {
        eventStream.withLockedValue { eventStream in
            defer { eventStream.isPending = false }
            return eventStream.isPending
        }
    }

    // MARK: The daemon

    /// True if the daemon answers. It is called at the start, after each failure, and while the daemon sends no events,
    /// because it could be another daemon. Otherwise the renewal of the lease with each beat shows it. A node whose
    /// daemon was silent for too long does not beat, so it calls the daemon, too.
    private func probe() async -> Bool {
        let isWell = nodeStatus.withLockedValue { $0.daemonProblem == nil }
        let now = Clocks.monotonic()
        let isRecent = lastAnswerAt.map { $0.duration(to: now) < rules.beatInterval * 2 } ?? false
        if isWell, storeID != nil, isListening, isIdle || isRecent { return true }
        do {
            let status = try await daemon.status()
            lastAnswerAt = now
            if let storeID, storeID != status.storeID {
                logger.warning("xferd has another database: the node registers again")
                appliedRates = nil
                registration = nil
            }
            storeID = status.storeID
            let wasAway = nodeStatus.withLockedValue { nodeStatus in
                defer { nodeStatus.daemonProblem = nil }
                return nodeStatus.daemonProblem != nil
            }
            if wasAway {
                (leasedFor, forgotRefusalsAt) = (nil, nil)
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
            version: XferVersion.current)
        guard let registration = try await register(description) else { return try await watchRival(description.name) }
        rival = nil
        nodeStatus.withLockedValue { $0.fleet = registration.fleet }
        try await reconcile(registration)
        self.registration = registration
        (lastBeatAt, leasedFor, forgotRefusalsAt) = (nil, nil, nil)
        logger.notice(
            "the node is in the fleet",
            metadata: [
                "node": "\(registration.name)", "incarnation": "\(registration.incarnation)",
                "holds": "\(claimed.count)",
            ])
    }

    func mountedStorages() -> Set<String> {
        storages.mounted(within: rules.beatInterval * 3, at: Clocks.monotonic())
    }

    /// Registers the node. Returns nil if the name belongs to another store.
    private func register(_ node: FleetNodeDescription) async throws -> FleetRegistration? {
        do {
            return try await database.register(node)
        } catch {
            guard case .nodeNameTaken = error else { throw error }
            return nil
        }
    }

    /// Another store has the node's name: a machine that lives, or one that this one replaces.
    ///
    /// - Throws: `nodeNameTaken` once the other one was seen to beat.
    private func watchRival(_ node: String) async throws {
        guard let row = try await database.nodes().first(where: { $0.description.name == node }) else { return }
        let (beat, now) = (BeatObserver.Beat(incarnation: row.incarnation, count: row.beat), Clocks.monotonic())
        if let rival, rival != beat { throw FleetError.nodeNameTaken(node: node) }
        if rival == nil {
            logger.notice(
                "waiting for the end of the node of this name with another store", metadata: ["node": "\(node)"])
        }
        rival = beat
        observer.observe([node: beat], at: now)
        guard observer.liveness(of: node, rules, at: now) == .dead, try await database.takeOver(row) else { return }
        rival = nil
        observer.restart()
    }

    /// A beat hit no row.
    func onLostRegistration(_ registration: FleetRegistration) async throws {
        self.registration = nil
        let row = try await database.nodes().first { $0.description.name == registration.name }
        if let row, row.incarnation > registration.incarnation { throw FleetError.superseded(node: registration.name) }
        logger.warning("the fleet considered this node down or removed it: it registers again")
    }

    func onDatabaseAnswer() {
        let wasAway = nodeStatus.withLockedValue { nodeStatus in
            defer { nodeStatus.databaseProblem = nil }
            return nodeStatus.databaseProblem != nil
        }
        if wasAway { logger.notice("the fleet's database answers") }
    }

    /// - Throws: errors that another round cannot repair.
    private func onDatabaseFailure(_ error: FleetError) async throws(FleetError) {
        switch error {
        case .superseded(let node):
            // A beat finds out whether another agent has the name, or the fleet called this node down.
            if registration == nil { throw error }
            guard let nodes = try? await database.nodes(), let mine = registration else { return }
            registration = nil
            if nodes.contains(where: { $0.description.name == node && $0.incarnation > mine.incarnation }) {
                throw error
            }
        case .newerSchema, .notMigrated, .unsuitable, .nodeNameTaken: throw error
        default:
            observer.restart()
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
    var daemonProblem: String? = "it was not called yet"
    var isDraining = false
    var nodes: [FleetNodeRow] = []
    var observer = BeatObserver()
    var claimed = 0
    var claims: Int64 = 0
    var ends: Int64 = 0
    var lost: Int64 = 0
}
