public import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
public import XferStore

/// Owns the service's tasks: restores them, starts those that may start, carries out the decisions of the state
/// machines, and publishes events.
///
/// It corresponds to AFURLSessionManager. Decisions are made by values in `XferCore`, and it moves no bytes. Every
/// change follows one order: decide within a store transaction, commit, run the action. The commit itself publishes the
/// events to the hub, so that no event is announced that a restart would not know.
public actor TransferManager {
    public nonisolated let hub: EventHub
    public nonisolated let store: TaskStore
    nonisolated let services: RunServices
    nonisolated let directories: DirectoryAdmission
    nonisolated let metrics: ServiceMetrics
    nonisolated let logger: Logger
    /// Holds the lock that allows one daemon per state directory.
    nonisolated let stateDirectory: StateDirectory
    /// Runs hooks for tasks that have ended.
    nonisolated let hookQueue: HookQueue
    nonisolated let clock: WallClock
    /// The digest of this database; see `CoalesceKey`.
    nonisolated let digest: KeyedDigest
    let version: String
    nonisolated let zones: TimeZones
    /// The tasks that a crash would be attributed to.
    nonisolated let inFlight = InFlightTasks()

    var settings: ManagerSettings
    /// Limits set by an operator over RPC. They take precedence over the configuration until set to nil.
    var overrides = LimitOverrides()
    var scheduler: SchedulerStateMachine
    /// Live runs only: a queued task takes no memory.
    var runs: [TaskID: LiveRun] = [:]
    /// The transfers of these runs.
    var transfers: [TransferID: LiveTransfer] = [:]
    var random = SeededGenerator(seed: .random(in: 0 ... .max))

    /// One scheduling pass runs at a time; a request during a pass causes another one.
    var isScheduling = false
    var wantsScheduling = false
    /// The number of passes that have begun.
    var passCount = 0
    /// The callers that wait for the end of a pass.
    var passWaiters: [(pass: Int, continuation: CheckedContinuation<Void, Never>)] = []
    /// Stops requested while a pass may have committed a start that is not launched yet; the launch obeys them. The
    /// transfer is discarded if there was no such start.
    var stopsBeforeLaunch: [TaskID: TransferID?] = [:]
    /// Receive limits changed meanwhile, for the same launches.
    var ratesBeforeLaunch: [TaskID: (receive: Int64, send: Int64)] = [:]
    /// Where a fatal signal is recorded; open as long as the process lives.
    var crashFile: CrashFile?
    var timer = WakeTimer()
    /// Wakes at the next change in the timetable.
    var rateTimer = WakeTimer()
    /// Wakes for warnings before a policy's expiry.
    var expiryTimer = WakeTimer()
    /// Tells servers of uploads that will not be continued.
    var remoteUploadCleanup = RemoteUploadCleanup()
    nonisolated let policyGate = AsyncLock()
    /// Threads for reading servers' certificates and key files, which may block.
    nonisolated let inspections = BlockingPool("xferd-inspect", threadCount: 2)
    var ticker: Task<Void, Never>?
    var activity = ActivityDebouncer()
    var activityTimer: Task<Void, Never>?
    /// The state of the network, and what the service derives from it.
    var network = NetworkFollowing()
    /// The difference between the wall clock and the monotonic clock at the last check.
    var clockOffset: Duration
    var lastMaintenance: MonotonicInstant?
    /// Deletes bytes that no task holds; nil while it does not run.
    var discarding: Task<Void, Never>?
    /// Whether the service is shutting down and has two seconds. The next start deletes the rest.
    var isEnding = false
    /// Transfers that may have no task any more, and whether their published files are to be deleted.
    var unwanted: [TransferID: Bool] = [:]
    /// Transfers whose files and then rows are being deleted. No task is started on them.
    var transfersBeingDeleted: Set<TransferID> = []
    /// Whether orphans of the last daemon have still to be searched for.
    var seeksOrphans = false
    /// Resumed when that run has ended.
    var endWaiters: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Staged tasks that are being published, with the callers that wait for that.
    var commits: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Resumed when the last run or commit has ended.
    var drainWaiters: [CheckedContinuation<Void, Never>] = []

    /// A task's run while it lives.
    struct LiveRun {
        let run: any TaskRun
        /// The transfer it was started on.
        let transfer: TransferID
        let control: RunControl
        let trust: RunTrust
        let owner: Owner
        let progressInterval: Duration
        /// Whether it can be stopped and repeated later.
        let mayStop: Bool
        /// Whether its policies have changed, so that it stops and is queued again.
        var reevaluatesTrust = false
        var lastProgress: MonotonicInstant?
        /// Whether it may use metered networks.
        var allowsMetered = true
        let begunAt = Clocks.monotonic()
        /// Whether the run has ended and its end is being committed.
        var isEnding = false
    }

    /// Locks the state directory, opens the database in it and prepares the engine. Nothing starts before `start`.
    ///
    /// - Throws: `FileError`, `StoreError` and `EngineStartError`: the daemon cannot run.
    /// - Parameters:
    ///   - reader: parses response bodies.
    ///   - describe: makes the description of a task that hooks read.
    ///   - accounts: finds the groups of tasks' owners.
    ///   - clocks: the clocks for retention; nil is `clock` and the machine's uptime.
    public static func open(
        stateDirectory path: String, settings: ManagerSettings, version: String, logger: Logger,
        reader: @escaping ResponseReader, describe: @escaping TaskDescriber = { "\($0.id)" },
        accounts: @escaping AccountLookup = { _ in nil }, clock: @escaping WallClock = Clocks.wall,
        clocks: ClockReader? = nil
    ) async throws -> TransferManager {
        // An error that a person must resolve is thrown before anything is written, including the lock file.
        try PolicyChanges.check(settings.policies)
        try TaskStore.refuseOthers(at: StateDirectory.databasePath(in: path))
        let stateDirectory = try StateDirectory(path: path)
        let hub = EventHub()
        let metrics = ServiceMetrics()
        let (degradations, continuation) = AsyncStream.makeStream(of: String?.self)
        let (pendingHooks, hooksContinuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let store = try TaskStore.open(
            StoreConfiguration(
                path: stateDirectory.databasePath,
                onCommit: { events in
                    hub.publish(events)
                    metrics.onCommit(events)
                },
                onDegradedChange: { continuation.yield($0) }, onPendingHooks: { hooksContinuation.yield() },
                describe: describe))
        let digest: SecretDigest
        let policies: PolicyRegistry
        let ages: RetentionAges
        do {
            hub.begin(after: try await store.read { try $0.lastSeq() })
            digest = SecretDigest(key: try await store.read { try $0.digestKey() })
            let now = clock()
            ages = RetentionAges(
                try await store.read { try RetentionAges.last(in: $0) },
                clocks ?? {
                    var reading = Clocks.reader()
                    reading.wall = clock()
                    return reading
                })
            let known = try await store.read { try AuthoritiesChange.last(in: $0) }
            let authorities = try? Authorities.fingerprint(ofFile: settings.authoritiesFile, known: known)
            policies = try await store.write { tx in
                try ConfiguredProfiles.take(settings.profiles, in: tx)
                var book = try PolicyChanges.takeConfigured(settings.policies, in: tx, at: now)
                book.authorities = try AuthoritiesChange.take(authorities, in: tx)
                return book
            }
        } catch {
            try? store.close()
            throw error
        }
        let userAgent = "xferd/\(version)"
        let engine = try TransferEngine(
            configuration: EngineConfiguration(userAgent: userAgent, loops: settings.engineLoops))
        let pool = BlockingPool()
        let cookies = CookieJars(store: store, engine: engine, clock: clock, ages: ages)
        let digests = BlockingPool("xferd-digests", threadCount: 2)
        let cache = ResponseCache(
            store: store, directory: CacheDirectory(try stateDirectory.subdirectory("cache")), pool: digests,
            digest: { digest.digest($0) }, userAgent: userAgent, limits: settings.cacheLimits, clock: clock,
            ages: ages, logger: logger)
        let services = RunServices(
            store: store, engine: engine, pool: pool, digests: digests,
            durability: DurabilityGroup(pool: pool), publishing: PublishingStage(store: store, pool: pool),
            directories: OpenDirectories(), rights: OwnerRights(settings, accounts: accounts),
            spool: SpoolDirectory(try stateDirectory.subdirectory("spool")), reader: reader,
            space: NIOLockedValueBox(SpaceLedger(reserve: settings.reserve)), policies: NIOLockedValueBox(policies),
            admission: NIOLockedValueBox(AdmissionRules(settings.admission)),
            access: AccessResolver(
                store: store, pool: pool, cookies: cookies,
                secrets: SecretReader(
                    credentialsDirectory: settings.credentialsDirectory, environment: settings.environment),
                environmentProxies: NIOLockedValueBox(settings.environmentProxies)),
            cookies: cookies, cache: cache, hooks: HookRunner(settings.hooks, logger: logger), describe: describe,
            clock: clock, ages: ages, logger: logger)
        let manager = TransferManager(
            hub: hub, metrics: metrics, services: services, stateDirectory: stateDirectory, settings: settings,
            digest: { digest.digest($0) }, version: version)
        // Both loops end with the store, which ends with the manager; neither retains the manager or the queue.
        Task { [weak manager] in for await reason in degradations { await manager?.onDegradedChange(reason) } }
        Task { [weak queue = manager.hookQueue] in for await _ in pendingHooks { await queue?.wake() } }
        return manager
    }

    private init(
        hub: EventHub, metrics: ServiceMetrics, services: RunServices, stateDirectory: StateDirectory,
        settings: ManagerSettings, digest: @escaping KeyedDigest, version: String
    ) {
        self.hub = hub
        self.metrics = metrics
        self.stateDirectory = stateDirectory
        self.services = services
        self.settings = settings
        self.digest = digest
        self.version = version
        zones = TimeZones(
            files: ZoneFiles(directory: settings.zoneDirectory, localFile: settings.localZoneFile),
            logger: services.logger)
        directories = DirectoryAdmission(pool: services.pool)
        store = services.store
        logger = services.logger
        clock = services.clock
        hookQueue = HookQueue(store: services.store, runner: services.hooks, logger: services.logger)
        clockOffset = Self.offset(of: services.clock())
        scheduler = SchedulerStateMachine(limits: settings.scheduler)
    }

    /// Applies new settings of the configuration file. Live runs continue under the old ones, except for trust
    /// policies, which stop the runs they concern.
    ///
    /// - Throws: if the trust policies cannot be applied; then none of the settings is in force.
    public func reload(_ settings: ManagerSettings) async throws {
        try await takeConfiguredPolicies(settings.policies)
        await takeAuthorities()
        self.settings = settings
        services.rights.take(settings)
        await takeConfiguredProfiles()
        await takeAdmissionLists()
        services.access.environmentProxies.withLockedValue { $0 = settings.environmentProxies }
        services.hooks.definitions.withLockedValue { $0 = HookRunner.byName(settings.hooks) }
        services.space.withLockedValue { $0.reserve = max(0, settings.reserve) }
        services.cache.limits.withLockedValue { $0 = settings.cacheLimits }
        applyLimits()
        await applySharedLimits()
        followNetworkSettings()
        await lookAtConditionsAgain()
    }

    /// Called when the database becomes writable or stops being so. Nothing starts while it is not. Afterwards, tasks
    /// whose runs could not record their end continue from their last checkpoint.
    private func onDegradedChange(_ reason: String?) async {
        if let reason {
            logger.error(
                "the database cannot be written: nothing starts until it can", metadata: ["reason": "\(reason)"])
            scheduler.holds.insert(.degraded)
            for live in runs.values { await stop(live) }
        } else {
            logger.notice("the database can be written again")
            scheduler.holds.remove(.degraded)
            do {
                _ = try await restoreRunning()
                try await settleCommits()
            } catch {
                logger.report("restoring after a storage failure failed", error, at: .error)
            }
            schedule()
            abandonUploads()
            await catchUpWithNetwork()
            await hookQueue.wake()
        }
    }

    /// Asks a run to stop at the next safe point.
    func stop(_ live: LiveRun) async { await live.run.stop() }
}
