public import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore
public import XferSystem

/// The transfer service: builds its parts, starts them and ends them in order. It corresponds to AFURLSessionManager.
///
/// Each part owns one concern and its state; the public interface of the parts is the interface for callers. Decisions
/// are made by values in `XferCore`, and nothing here moves bytes. The commit itself publishes the events to the hub,
/// so that no event is announced that a restart would not know.
public final class TransferManager: ManagerPart, Sendable {
    let context: ManagerContext

    /// Adds and changes tasks.
    public let tasks: TaskCommands
    public let queries: TaskQueries
    /// Reads tasks' bytes and kept responses.
    public var bytes: ByteReader { ByteReader(context: context, scheduler: scheduler) }
    /// Staged tasks and their publishing by `task.commit`.
    public let staging: StagedPublishing
    public let queue: QueueControl
    public let groups: GroupCommands
    public let batches: BatchCommands
    public let slots: SlotCommands
    public var operations: OperationCommands {
        OperationCommands(context: context, runner: background.operations)
    }
    public var failedURLs: FailedURLCommands { FailedURLCommands(context: context) }
    public var cache: CacheCommands { CacheCommands(context: context) }
    public let profiles: ProfileCommands
    public let policies: TrustPolicies
    public var webhooks: WebhookCommands { WebhookCommands(context: context) }
    public var tokens: TokenCommands { TokenCommands(context: context) }
    public let strictTransport: StrictTransportCommands
    public let network: NetworkFollower
    public var leases: LeaseCommands { LeaseCommands(context: context, conditions: background.clockFollower) }

    let scheduler: RunScheduler
    let background: BackgroundParts

    private init(context: ManagerContext) {
        self.context = context
        let reachability = NIOLockedValueBox(Reachability())
        let beingPublished = NIOLockedValueBox(Set<TaskID>())
        scheduler = RunScheduler(context: context, reachability: reachability, beingPublished: beingPublished)
        let remoteUploads = RemoteUploadCleanup(context: context, scheduler: scheduler)
        let discarder = TransferDiscarder(context: context, scheduler: scheduler, remoteUploads: remoteUploads)
        let trimmer = HistoryTrimmer(context: context, discarder: discarder)
        queries = TaskQueries(context: context, scheduler: scheduler)
        tasks = TaskCommands(context: context, scheduler: scheduler, discarder: discarder, queries: queries)
        staging = StagedPublishing(
            context: context, discarder: discarder, trimmer: trimmer, beingPublished: beingPublished)
        queue = QueueControl(context: context, scheduler: scheduler)
        groups = GroupCommands(context: context, scheduler: scheduler, queue: queue)
        batches = BatchCommands(context: context, scheduler: scheduler, tasks: tasks)
        slots = SlotCommands(context: context, scheduler: scheduler)
        profiles = ProfileCommands(context: context, queue: queue)
        let webhookDispatcher = WebhookDispatcher(context: context)
        policies = TrustPolicies(
            context: context, scheduler: scheduler, remoteUploads: remoteUploads, webhooks: webhookDispatcher)
        strictTransport = StrictTransportCommands(
            context: context,
            recorder: SecureHostRecorder(store: context.services.store, logger: context.services.logger))
        network = NetworkFollower(context: context, scheduler: scheduler, reachability: reachability)
        background = BackgroundParts(
            discarder: discarder, trimmer: trimmer, remoteUploads: remoteUploads,
            clockFollower: ClockFollower(
                context: context, scheduler: scheduler, queue: queue, policies: policies, remoteUploads: remoteUploads,
                webhooks: webhookDispatcher),
            activity: ActivityReporter(context: context), crashes: CrashFollower(context: context),
            hookQueue: HookQueue(
                store: context.services.store, runner: context.services.hooks, logger: context.services.logger),
            webhookDispatcher: webhookDispatcher,
            operations: OperationRunner(context: context, tasks: tasks, staging: staging))
    }

    /// The longest wait for the lock of a state directory. The kernel releases the lock of a killed daemon when it has
    /// ended the process, which takes a moment.
    private static let longestLockWait = Duration.seconds(2)

    /// Opens and locks the state directory.
    ///
    /// - Throws: `FileError`; `alreadyLocked` if another daemon keeps the lock for `longestLockWait`.
    private static func lockedDirectory(_ path: String) async throws -> StateDirectory {
        let deadline = ContinuousClock.now + longestLockWait
        while true {
            do throws(FileError) {
                return try StateDirectory(path: path)
            } catch {
                guard case .alreadyLocked = error, ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Locks the state directory, opens the database in it and prepares the engine. Nothing starts before `start`.
    ///
    /// - Throws: `FileError`, `StoreError` and `EngineStartError`: the daemon cannot run.
    /// - Parameters:
    ///   - reader: parses response bodies.
    ///   - accounts: finds the groups of tasks' owners.
    ///   - clocks: the clocks for retention; nil is `clock` and the machine's uptime.
    public static func open(
        stateDirectory path: String, settings: ManagerSettings, version: String, logger: Logger,
        reader: @escaping ResponseReader, accounts: @escaping AccountLookup = { _ in nil },
        clock: @escaping WallClock = Clocks.wall, clocks: ClockReader? = nil
    ) async throws -> TransferManager {
        // An error that a person must resolve is thrown before anything is written, including the lock file.
        try PolicyChanges.check(settings.policies)
        try TaskStore.refuseOthers(at: StateDirectory.databasePath(in: path))
        let stateDirectory = try await lockedDirectory(path)
        let hub = EventHub()
        let metrics = ServiceMetrics()
        let ends = EndLog(logger)
        let (degradations, continuation) = AsyncStream.makeStream(of: String?.self)
        let (pendingHooks, hooksContinuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (pendingDeliveries, deliveriesContinuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var configuration = StoreConfiguration(
            path: stateDirectory.databasePath,
            onCommit: { events in
                hub.publish(events)
                metrics.onCommit(events)
                ends.onCommit(events)
            },
            onDegradedChange: { continuation.yield($0) }, onPendingHooks: { hooksContinuation.yield() },
            texts: StoreTexts(task: { $0.hookDescription }, event: { $0.webhookBody }))
        configuration.repeatsWrites = settings.repeatsWrites
        configuration.onPendingDeliveries = { deliveriesContinuation.yield() }
        let now = clock()
        let clocks =
            clocks ?? {
                var reading = Clocks.reader()
                reading.wall = clock()
                return reading
            }
        let configure = { @Sendable (tx: StoreTransaction) throws -> PolicyRegistry in
            try ConfiguredProfiles.apply(settings.profiles, in: tx)
            return try PolicyChanges.applyConfigured(settings.policies, in: tx, at: now)
        }
        // A damaged page that the start writes to, and a configuration that does not fit the database, are found here.
        try TaskStore.rehearse(configuration) { tx in
            _ = try configure(tx)
            _ = try AuthoritiesChange.last(in: tx)
            _ = try tx.secureHosts.list(limit: SecureHostList.maxCount)
            _ = try tx.tokens.damaged()
            try tx.rehearseStart(RetentionAges(try RetentionAges.last(in: tx), clocks), version: version, at: now)
        }
        let store = try TaskStore.open(configuration)
        ends.follow(store)
        if store.isNew, CrashFile.exists(in: stateDirectory) {
            logger.warning(
                """
                an earlier daemon used this state directory, but its database is missing: a new one was created with an \
                empty queue. Unless you removed it: stop xferd and restore the database, together with its log
                """, metadata: ["database": "\(stateDirectory.databasePath)"])
        }
        store.follow(WebhookSubscriptions(settings.webhooks), within: settings.deliveryLimits)
        let digest: SecretDigest
        let policies: PolicyRegistry
        let ages: RetentionAges
        let (damagedProfiles, damagedTokens): ([DamagedRow], [DamagedRow])
        let conflicts: [ConfigurationConflict]
        do {
            hub.begin(after: try await store.read { try $0.events.lastSeq() })
            digest = SecretDigest(key: try await store.read { try $0.failedURLs.digestKey() })
            ages = RetentionAges(try await store.read { try RetentionAges.last(in: $0) }, clocks)
            let known = try await store.read { try AuthoritiesChange.last(in: $0) }
            let authorities = try? Authorities.fingerprint(ofFile: settings.authoritiesFile, known: known)
            policies = try await store.write { tx in
                var registry = try configure(tx)
                registry.authorities = try AuthoritiesChange.apply(authorities, in: tx)
                return registry
            }
            (damagedProfiles, damagedTokens) = try await store.read {
                (try $0.profiles.damaged(), try $0.tokens.damaged())
            }
            conflicts = try await store.read { try ConfigurationConflict.all(settings, in: $0) }
        } catch {
            try? store.close()
            throw error
        }
        // Servers do not learn the commit.
        let userAgent = "xferd/\(XferVersion.current)"
        let engine = try TransferEngine(
            configuration: EngineConfiguration(
                userAgent: userAgent, loops: settings.engineLoops,
                keptConnections: DescriptorRules.keptConnections(limit: Descriptors.limit),
                strictTransport: StrictTransport(clock: clock)))
        let pool = BlockingPool()
        let paths = PathPools(service: pool, home: stateDirectory.path)
        let digests = paths.digests
        let cookies = CookieJars(store: store, engine: engine, clock: clock, ages: ages, logger: logger)
        func subdirectory(_ name: String) throws(FileError) -> StateSubdirectory {
            try StateSubdirectory(name, in: stateDirectory) { path in
                logger.warning(
                    "a directory of the state directory was removed; it was created again, its contents are lost",
                    metadata: ["path": "\(path)"])
            }
        }
        let space = NIOLockedValueBox(SpaceLedger(reserve: settings.reserve))
        let cache = ResponseCache(
            store: store, directory: CacheDirectory(try subdirectory("cache")), pool: digests, space: space,
            digest: { digest.digest($0) }, userAgent: userAgent, limits: settings.cacheLimits, clock: clock,
            ages: ages, logger: logger)
        let rights = OwnerRights(settings, accounts: accounts)
        let services = RunServices(
            store: store, engine: engine, paths: paths,
            publishing: PublishingStage(store: store, pool: { paths.pool(in: $0) }), directories: OpenDirectories(),
            admitted: DirectoryAdmission(
                paths: paths, places: RootPlaces(store: store, rights: rights, logger: logger)),
            rights: rights,
            spool: SpoolDirectory(try subdirectory("spool")), reader: reader,
            space: space, policies: NIOLockedValueBox(policies),
            admission: NIOLockedValueBox(AdmissionRules(settings.admission)),
            access: AccessResolver(
                store: store, pool: pool, cookies: cookies,
                secrets: SecretReader(
                    credentialsDirectory: settings.credentialsDirectory, environment: settings.environment),
                environmentProxies: NIOLockedValueBox(settings.environmentProxies)),
            cookies: cookies, cache: cache, hooks: HookRunner(settings.hooks, logger: logger), clock: clock,
            ages: ages, logger: logger)
        let context = ManagerContext(
            version: version, services: services, hub: hub, metrics: metrics,
            conditionInputs: ConditionInputs(
                zones: TimeZones(
                    files: ZoneFiles(directory: settings.zoneDirectory, localFile: settings.localZoneFile),
                    logger: logger),
                leases: services.leases),
            directories: services.admitted, stateDirectory: stateDirectory,
            digest: { digest.digest($0) }, settings: NIOLockedValueBox(settings))
        context.damagedRows.replace(.profile, by: damagedProfiles)
        context.damagedRows.replace(.token, by: damagedTokens)
        context.log(context.allDamagedRows)
        context.profileConflicts.withLockedValue { $0 = conflicts.filter { $0.kind == .profile } }
        for conflict in conflicts { logger.error("\(conflict)") }
        let manager = TransferManager(context: context)
        await manager.scheduler.setDelegate(manager)
        await manager.policies.begin()
        // The loops end with the store, which ends with the manager; none retains the manager or one of its parts.
        Task { [weak manager] in for await reason in degradations { await manager?.onDegradedChange(reason) } }
        Task { [weak queue = manager.background.hookQueue] in for await _ in pendingHooks { await queue?.wake() } }
        Task { [weak dispatcher = manager.background.webhookDispatcher] in
            for await _ in pendingDeliveries { await dispatcher?.wake() }
        }
        return manager
    }

    /// The operator's commands, by name.
    public var hooks: [HookDefinition] {
        services.hooks.definitions.withLockedValue { $0.values.sorted { $0.name < $1.name } }
    }

    /// Publishes the events that are committed.
    public var hub: EventHub { context.hub }

    /// Handles a change of the wall clock. Call it when the clock was set.
    public func onClockSet() async { await background.clockFollower.onClockSet() }

    /// The last published activity: true if transfers run.
    public var isActive: Bool { background.activity.isActive }

    /// True if `beginShutdown` was called.
    public var isShuttingDown: Bool { context.isShuttingDown.withLockedValue(\.self) }

    /// Differs for each new database.
    public var storeID: String { store.storeID }

    /// The rows of the database that cannot be read and have no effect, for operators.
    ///
    /// The start, a reload, the lists of profiles, policies and tokens, and a call that meets one find them. Tasks are
    /// found by lists, calls and the scheduler.
    public var damagedRows: [String] { context.allDamagedRows.map(\.description) }

    /// The entries of the configuration that are not in force since the start, because others were set over RPC.
    public var conflicts: [ConfigurationConflict] {
        services.policies.withLockedValue(\.notInForce) + context.profileConflicts.withLockedValue(\.self)
    }

    /// The reason why the service is degraded, for operators; nil while it is not.
    public var degradation: String? { context.degradation }
}

extension TransferManager: RunSchedulerDelegate {
    func discard(_ transfers: [TransferID], undoing: Bool) { background.discarder.discard(transfers, undoing: undoing) }

    func wakeWaitingForNetwork() { network.wakeWaiting() }

    func onRunningCount(_ count: Int) { background.activity.onRunningCount(count) }

    func onRunEnded() { background.trimmer.wake() }
}

/// The parts that work in the background, on no caller's request.
struct BackgroundParts: Sendable {
    let discarder: TransferDiscarder
    let trimmer: HistoryTrimmer
    let remoteUploads: RemoteUploadCleanup
    let clockFollower: ClockFollower
    let activity: ActivityReporter
    let crashes: CrashFollower
    /// Runs hooks for tasks that have ended.
    let hookQueue: HookQueue
    let webhookDispatcher: WebhookDispatcher
    let operations: OperationRunner
}
