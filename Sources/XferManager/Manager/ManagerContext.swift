import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// The components that the parts of the manager share.
///
/// It contains no logic. Its members are constants or synchronise their own access.
struct ManagerContext: Sendable {
    /// The daemon's version with its commit, for the event of the start.
    let version: String
    let services: RunServices
    let hub: EventHub
    let metrics: ServiceMetrics
    let conditionInputs: ConditionInputs
    /// The tasks that a crash would be attributed to.
    let inFlight = InFlightTasks()
    /// The tasks whose directory is being changed. One call at a time: each would delete the other's copy of kept
    /// bytes.
    let moving = NIOLockedValueBox<Set<TaskID>>([])
    /// The tasks that calls wait for.
    let waitedTasks = WaitedTasks()
    let directories: DirectoryAdmission
    /// Threads for reading servers' certificates and key files, which may block.
    let inspections = BlockingPool("xferd-inspect", threadCount: 2)
    let disks = DiskFigures(pool: BlockingPool("xferd-disks", threadCount: 1))
    let room = StateRoom()
    /// One copy of the database at a time.
    let copying = AsyncLock()
    /// The state directory, with the lock that allows one daemon in it.
    let stateDirectory: StateDirectory
    /// Computes digests with the key of this database; see `CoalesceKey`.
    let digest: KeyedDigest
    /// Recognises the tokens of clients on the network.
    let tokens = TokenRegistry()
    /// The operator's settings in force. `TransferManager.reload` replaces them.
    let settings: NIOLockedValueBox<ManagerSettings>
    /// The rows that could not be read the last time. `RunServices.policies` has the trust policies that could not be
    /// read when the policies were applied.
    let damagedRows = DamagedRows()
    /// The profiles of the configuration that the start did not apply.
    let profileConflicts = NIOLockedValueBox<[ConfigurationConflict]>([])
    /// The last reason why a directory of the state could not be used, so that each change is logged once.
    let lastStateProblem = NIOLockedValueBox<String?>(nil)
    /// True after `TransferManager.beginShutdown`: no task starts and none is added.
    let isShuttingDown = NIOLockedValueBox(false)
}

extension ManagerContext {
    /// The reason why the database or a directory of the state cannot be used, for operators; nil while they can. Tasks
    /// do not start only while the database cannot be written, a trust policy in it cannot be read, or one of the
    /// configuration is not in force.
    var degradation: String? {
        services.store.degradation.map { "the database cannot be written, so nothing starts: \($0)" }
            ?? services.policies.withLockedValue(\.damaged).first.map {
                "the \($0) is damaged in the database, so nothing starts: set it again or remove it"
            } ?? Self.conflict(of: services.policies).map { "\($0), so nothing starts" } ?? stateProblem
    }

    /// The reason why nothing starts while a policy of the configuration is not in force; nil while all are. It names no
    /// policy, because guests see it; operators have `TransferManager.conflicts`.
    static func conflict(of policies: NIOLockedValueBox<PolicyRegistry>) -> String? {
        policies.withLockedValue(\.notInForce).isEmpty
            ? nil : "a trust policy of the configuration conflicts with one that was set over RPC"
    }

    /// The reason why a directory of the state cannot be used. A change since the last call is logged.
    private var stateProblem: String? {
        let problem = services.spool.problem ?? services.cache.directory.problem
        let earlier = lastStateProblem.withLockedValue { last in
            defer { last = problem }
            return last
        }
        if let problem, earlier == nil {
            services.logger.error("a directory of the state cannot be used", metadata: ["reason": "\(problem)"])
        } else if problem == nil, earlier != nil {
            services.logger.notice("the directories of the state can be used again")
        }
        return problem
    }

    /// The rows of the database that cannot be read and have no effect.
    ///
    /// A policy whose row was damaged after it was read stays in force until the policies are read again.
    var allDamagedRows: [DamagedRow] {
        let policies = services.policies.withLockedValue(\.damaged)
        return policies + damagedRows.all.filter { !policies.contains($0) }
    }

    /// Reads profiles, tokens and policies again, and logs the rows that were damaged since the last time. While the
    /// database cannot be read, the rows that were found before remain.
    func findDamagedRows() async {
        let found = try? await services.store.read { reader -> [[DamagedRow]] in
            [try reader.profiles.damaged(), try reader.tokens.damaged(), try reader.policies.damaged()]
        }
        guard let found else { return }
        let known = services.policies.withLockedValue(\.damaged)
        for (table, rows) in zip([DamagedRow.Table.profile, .token, .policy], found) {
            log(damagedRows.replace(table, by: rows).filter { !known.contains($0) })
        }
    }

    /// Records the tasks whose rows a call could not read, and those that it could read, and logs the former once.
    func recordDamage(_ damaged: [TaskID], sound: [TaskID] = []) {
        damagedRows.remove(tasks: sound)
        let new = damagedRows.add(tasks: damaged)
        guard !new.isEmpty else { return }
        let recover = MaintenanceCommand.text("--recover", stateDirectory: stateDirectory.path)
        services.logger.error(
            "rows of the database are damaged: cancel and remove their tasks, or stop xferd and run: \(recover)",
            metadata: ["tasks": "\(new.map(\.name).joined(separator: " "))"])
    }

    func log(_ damaged: [DamagedRow]) {
        for row in damaged {
            services.logger.error(
                "a row of the database is damaged and has no effect: set it again or remove it",
                metadata: ["row": "\(row)"])
        }
    }
}

/// A part of the manager. The extension defines short names for the members of the shared context.
protocol ManagerPart {
    nonisolated var context: ManagerContext { get }
}

extension ManagerPart {
    nonisolated var services: RunServices { context.services }
    nonisolated var store: TaskStore { context.services.store }
    nonisolated var logger: Logger { context.services.logger }
    nonisolated var clock: WallClock { context.services.clock }
    nonisolated var conditionInputs: ConditionInputs { context.conditionInputs }
    nonisolated var zones: TimeZones { context.conditionInputs.zones }
    nonisolated var leases: TaskLeases { context.conditionInputs.leases }
    nonisolated var settings: ManagerSettings { context.settings.withLockedValue(\.self) }
    nonisolated var isShuttingDown: Bool { context.isShuttingDown.withLockedValue(\.self) }

    /// Makes the keys by which tasks share transfers.
    nonisolated var coalesceKeys: CoalesceKeys {
        CoalesceKeys(
            digest: context.digest,
            isSharedBetweenOwners: context.settings.withLockedValue(\.sharesBetweenOwners))
    }

    nonisolated var failedURLs: FailedURLList {
        context.settings.withLockedValue {
            FailedURLList(
                digest: context.digest, isSharedBetweenOwners: $0.sharesBetweenOwners,
                timeToLive: $0.negativeTTL.components.seconds)
        }
    }

    /// Checks the tasks that this caller adds or changes.
    nonisolated func admission(for principal: Principal) -> TaskAdmission {
        let pool = principal.isOperator ? services.pool : services.paths.pool(ofGuest: principal.owner.rawValue)
        return TaskAdmission(
            principal: principal, settings: settings, pool: pool, paths: services.paths,
            directories: context.directories,
            rights: services.rights,
            policies: services.policies.withLockedValue(\.resolver),
            requests: RequestAdmission(
                rules: services.admission.withLockedValue(\.self), isOperator: principal.isOperator, store: store),
            content: ContentAdmission(principal: principal, rights: services.rights, paths: services.paths),
            zones: zones,
            coalesceKeys: coalesceKeys, now: clock())
    }

    /// Refuses adds of users who are not operators while the state directory has little free space.
    nonisolated func requireStateRoom(for principal: Principal) async throws(ManagerError) {
        guard !principal.isOperator, await context.room.isLow(at: context.stateDirectory.path) else { return }
        throw .storageUnavailable(
            reason: "little space is left on the disk of the state directory, and it is reserved for operators")
    }

    /// Converts errors of a store that cannot be used now to `storageUnavailable`.
    nonisolated func translatingStoreErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch StoreError.degraded(let reason) {
            throw ManagerError.storageUnavailable(reason: reason)
        } catch StoreError.closed {
            throw ManagerError.storageUnavailable(reason: StoreError.closed.description)
        }
    }
}

extension Logger {
    /// Logs that background work failed.
    ///
    /// Work during the shutdown may find the database closed. The next start repeats it, so that this is not a warning.
    func report(
        _ message: Logger.Message, _ error: any Error, at level: Logger.Level = .warning, _ metadata: Metadata = [:]
    ) {
        let isOrderlyEnd = if case StoreError.closed = error { true } else { false }
        log(level: isOrderlyEnd ? .debug : level, message, metadata: metadata.merging(["error": "\(error)"]) { $1 })
    }
}
