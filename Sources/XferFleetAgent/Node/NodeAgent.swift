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
/// One round is repeated for as long as the agent lives. A round that fails anywhere is repeated without harm: claims are
/// durable in the database, tasks and their ends in the daemon.
actor NodeAgent {
    let configuration: AgentConfiguration
    let database: FleetDatabase
    let daemon: LocalDaemon
    let logger: Logger
    let changes: Doorbells
    /// Read again with every beat; nil if the agent does not listen on the network.
    let tokens: FleetTokens?
    let storages: StorageMounts
    nonisolated let bell = Doorbell()
    /// What has come of xferd's events.
    nonisolated let hearing = NIOLockedValueBox(Hearing())
    /// What handlers and metrics show of the node.
    nonisolated let standing = NIOLockedValueBox(NodeStanding())

    /// The node's place in the fleet; nil until it has registered.
    var registration: FleetRegistration?
    /// Shared storages that the registration names.
    var registeredStorages: Set<String> = []
    var held = HeldTasks()
    /// Held tasks that wait for a permit to be published, and how often xferd has refused to publish each.
    var staged: [TaskID: Int] = [:]
    /// Claimed, and not yet in the daemon.
    var unadded: [FleetClaim] = []
    /// What the fleet is to be told next; emptied when it was.
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
    var lastBeatAt: MonotonicInstant?
    var lastTrimAt: MonotonicInstant?

    init(
        _ configuration: AgentConfiguration, database: FleetDatabase, daemon: LocalDaemon, changes: Doorbells,
        tokens: FleetTokens?, logger: Logger
    ) {
        self.configuration = configuration
        self.database = database
        self.daemon = daemon
        self.changes = changes
        self.tokens = tokens
        self.logger = logger
        storages = StorageMounts(configuration.fleet.storages)
    }

    var rules: LeaseRules { configuration.rules }

    /// The connection that xferd sends its events on.
    struct Hearing: Sendable {
        /// While it lasts, xferd runs and has the same database.
        var isConnected = false
        /// Events have come, or may have been missed, that no round has read.
        var isPending = true
    }

    /// Works until the Swift task is cancelled.
    ///
    /// - Throws: `FleetError.superseded` if another agent has taken the node's name, `nodeNameTaken` if it has it.
    func run() async throws(FleetError) {
        let ears = Task { await listen() }
        defer { ears.cancel() }
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

    /// Waits for the next round.
    ///
    /// A node without trouble sleeps until its beat is due, and a thread of the database's looks once an interval whether
    /// there is something to do. Else a round follows after the interval.
    ///
    /// - Returns: whether there may be something to do besides a beat.
    private func rest() async -> Bool {
        guard let registration, let lastBeatAt, isAtEase else {
            await bell.wait(atMost: configuration.interval)
            return true
        }
        let isClaiming = ClaimRules.want(
            slots: configuration.fleet.slots, held: held.count, recentEnds: recentEnds, isDraining: isDraining)
        database.watch(registration, isClaiming: isClaiming > 0, every: configuration.interval) { [bell] in bell.ring() }
        let sinceBeat = lastBeatAt.duration(to: Clocks.monotonic())
        let isRung = await bell.wait(atMost: max(.zero, rules.beatInterval - sinceBeat))
        database.endWatch()
        return isRung
    }

    /// Whether nothing waits for another try.
    private var isAtEase: Bool {
        standing.withLockedValue { $0.databaseProblem == nil && $0.daemonProblem == nil }
            && hearing.withLockedValue { $0.isConnected } && unadded.isEmpty && staged.isEmpty && outbox.isEmpty
    }

    /// Rings when tasks end, so that free slots are filled at once.
    private func listen() async {
        while !Task.isCancelled {
            do {
                let events = try await daemon.client.events(types: LocalDaemon.endings)
                hear(isConnected: true)
                for try await _ in events { hear(isConnected: true) }
            } catch {}
            hear(isConnected: false)
            try? await Task.sleep(for: configuration.interval)
        }
    }

    private nonisolated func hear(isConnected: Bool) {
        hearing.withLockedValue { $0 = Hearing(isConnected: isConnected, isPending: true) }
        bell.ring()
    }

    /// - Parameter isRung: whether there may be something to do besides a beat.
    private func round(_ isRung: Bool) async throws {
        let isReachable = await probe()
        if registration == nil {
            guard isReachable else { return }
            try await join()
        }
        guard let registration else { return }
        try await beat(registration)
        guard isReachable, self.registration == registration else { return }
        if isRung {
            try await carryOutWishes(registration)
            try await claim(registration)
        }
        if takePendingEvents() || held.count > 0 {
            while try await collectEnds(registration) { try await report(registration) }
        }
        try await publishStaged(registration)
        try await report(registration)
    }

    private func takePendingEvents() -> Bool {
        hearing.withLockedValue { hearing in
            defer { hearing.isPending = false }
            return hearing.isPending
        }
    }

    // MARK: The daemon

    /// Whether the daemon answers. It is asked at the start, after each failure, and while it sends no events: another
    /// daemon could be there. Otherwise the renewal of the lease with each beat finds out.
    private func probe() async -> Bool {
        let isWell = standing.withLockedValue { $0.daemonProblem == nil }
        if isWell, storeID != nil, hearing.withLockedValue({ $0.isConnected }) { return true }
        let now = Clocks.monotonic()
        do {
            let status = try await daemon.status()
            lastAnswerAt = now
            if let storeID, storeID != status.storeID {
                logger.warning("xferd has another database: the node registers anew")
                appliedRates = nil
                registration = nil
            }
            storeID = status.storeID
            let wasAway = standing.withLockedValue { standing in
                defer { standing.daemonProblem = nil }
                return standing.daemonProblem != nil
            }
            if wasAway { logger.notice("xferd answers", metadata: ["socket": "\(configuration.fleet.daemon)"]) }
            return true
        } catch {
            onDaemonFailure(error)
            return false
        }
    }

    private func onDaemonFailure(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let problem = "\(error)"
        let isNew = standing.withLockedValue { standing in
            defer { standing.daemonProblem = problem }
            return standing.daemonProblem == nil
        }
        if isNew { logger.warning("the node's xferd cannot be used: \(problem)") }
    }

    // MARK: The fleet

    /// Registers, and compares what the fleet says that the node holds with what the daemon has.
    private func join() async throws {
        guard let storeID else { return }
        let fleet = configuration.fleet
        await storages.firstLook(atMost: rules.beatInterval)
        registeredStorages = mountedStorages()
        let description = FleetNodeDescription(
            name: configuration.node, labels: Set(fleet.labels), storages: registeredStorages, slots: fleet.slots,
            storeID: storeID,
            version: XferVersion.current)
        guard let registration = try await register(description) else { return try await watchRival(description.name) }
        rival = nil
        standing.withLockedValue { $0.fleet = registration.fleet }
        try await reconcile(registration)
        self.registration = registration
        lastBeatAt = nil
        logger.notice(
            "the node is in the fleet",
            metadata: [
                "node": "\(registration.name)", "incarnation": "\(registration.incarnation)", "holds": "\(held.count)",
            ])
    }

    private func mountedStorages() -> Set<String> {
        storages.mounted(within: rules.beatInterval * 3, at: Clocks.monotonic())
    }

    /// Nil if the name belongs to another store.
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
                "waiting whether the node of this name with another store is gone", metadata: ["node": "\(node)"])
        }
        rival = beat
        observer.observe([node: beat], at: now)
        guard observer.liveness(of: node, rules, at: now) == .dead, try await database.takeOver(row) else { return }
        rival = nil
        observer.startAnew()
    }

    /// Beats, lets the daemon go on, and looks at the other nodes.
    private func beat(_ registration: FleetRegistration) async throws {
        let sentAt = Clocks.monotonic()
        guard rules.isBeatDue(lastSentAt: lastBeatAt, at: sentAt),
            rules.mayBeat(lastAnswerAt: lastAnswerAt, at: sentAt)
        else { return }
        guard let beat = try await database.beat(registration, figures: nil) else {
            return try await onLostRegistration(registration)
        }
        onDatabaseAnswer()
        lastBeatAt = sentAt
        guard mountedStorages() == registeredStorages else {
            logger.notice("other shared storages are mounted than before: the node registers anew")
            self.registration = nil
            return bell.ring()
        }
        storages.look()
        if standing.withLockedValue({ $0.daemonProblem == nil }) {
            try await daemon.renew(until: rules.leaseEnd(beatSentAt: sentAt))
            lastAnswerAt = sentAt
        }
        try await observe(beat.nodes, registration)
        try await shareRates(beat.rates, registration)
        try await tokens?.refresh()
        try await tidy(sentAt, hasDue: beat.hasDue)
        try await lookAtRunning(registration)
    }

    private func observe(_ nodes: [FleetNodeRow], _ registration: FleetRegistration) async throws {
        let now = Clocks.monotonic()
        let others = nodes.filter { !$0.isDown }
        observer.observe(
            Dictionary(
                others.map { ($0.description.name, BeatObserver.Beat(incarnation: $0.incarnation, count: $0.beat)) }
            ) { first, _ in first }, at: now)
        isDraining = nodes.first { $0.id == registration.node }?.isDraining ?? isDraining
        standing.withLockedValue { ($0.nodes, $0.observer, $0.isDraining) = (nodes, observer, isDraining) }
        let dead = Set(observer.dead(rules, own: registration.name, at: now))
        for row in nodes where dead.contains(row.description.name) || row.needsTakeover {
            let name = row.description.name
            guard try await database.takeOver(row) else { continue }
            logger.warning("a node is down, its tasks are taken over", metadata: ["node": "\(name)"])
            changes.ring()
        }
    }

    /// Gives xferd the node's share of the fleet's rates. Without any the node has its own limits.
    private func shareRates(_ rates: FleetRates, _ registration: FleetRegistration) async throws {
        guard rates != appliedRates, standing.withLockedValue({ $0.daemonProblem == nil }) else { return }
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

    /// Work for the fleet as a whole, which every node does.
    private func tidy(_ now: MonotonicInstant, hasDue: Bool) async throws {
        if hasDue {
            while try await database.wakeDelayed() >= 500 {}
            bell.ring()
        }
        guard lastTrimAt.map({ $0.duration(to: now) >= .seconds(60) }) ?? true else { return }
        lastTrimAt = now
        let settings = configuration.settings
        _ = try await database.trim(
            keepEvents: Int64(clamping: settings.events.maxCount), history: settings.history.maxAge)
    }

    /// A beat hit no row.
    private func onLostRegistration(_ registration: FleetRegistration) async throws {
        self.registration = nil
        let row = try await database.nodes().first { $0.description.name == registration.name }
        if let row, row.incarnation > registration.incarnation { throw FleetError.superseded(node: registration.name) }
        logger.warning("the fleet called this node down or forgot it: it registers anew")
    }

    private func onDatabaseAnswer() {
        let wasAway = standing.withLockedValue { standing in
            defer { standing.databaseProblem = nil }
            return standing.databaseProblem != nil
        }
        if wasAway { logger.notice("the fleet's database answers") }
    }

    /// - Throws: what another round cannot mend.
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
            observer.startAnew()
            let problem = "\(error)"
            let isNew = standing.withLockedValue { standing in
                defer { standing.databaseProblem = problem }
                return standing.databaseProblem == nil
            }
            if isNew { logger.warning("the fleet's database cannot be used: \(problem)") }
        }
    }
}

/// What is known of the node, for handlers and metrics.
struct NodeStanding: Sendable {
    var fleet = ""
    var databaseProblem: String?
    var daemonProblem: String? = "it was not asked yet"
    var isDraining = false
    var nodes: [FleetNodeRow] = []
    var observer = BeatObserver()
    var held = 0
    var claims: Int64 = 0
    var ends: Int64 = 0
    var lost: Int64 = 0
}
