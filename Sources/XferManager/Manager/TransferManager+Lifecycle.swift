import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore
import XferSystem

/// The start and the end of the service, and changes of its settings.
extension TransferManager {
    /// Restores the work of the last daemon and starts. Call it before any client is accepted.
    public func start() async throws {
        context.stateDirectory.writeHolder(socket: settings.socket)
        backup.sweep()
        try await queue.loadOverrides()
        try await strictTransport.begin()
        let settings = context.settings.withLockedValue(\.self)
        try await services.incomplete.add(settings.incompleteDirectory, in: store)
        await recordPlaces(of: settings)
        try await settleRestored()
        try await scheduler.settleBriefIntents()
        let restored = try await scheduler.restoreRunning()
        await background.crashes.start()
        try await staging.settleCommits()
        let now = clock()
        let version = context.version
        let state = await network.begin()
        let lastTransfer = try await store.write { [services] tx in
            try tx.recordStart(services.ages, version: version, restored: Int64(clamping: restored), at: now)
            try tx.events.append(.networkChanged(state: state), at: now)
            return try tx.transfers.lastID()
        }
        if restored > 0 {
            let reason = store.wasStoppedUncleanly ? "after an unclean stop" : "where the last daemon left them"
            logger.notice("transfers resume \(reason)", metadata: ["count": "\(restored)"])
        }
        await network.forgetFormerFailures()
        network.wakeWaiting()
        background.discarder.discardOrphans(upTo: lastTransfer)
        background.remoteUploads.wake()
        services.sweepSpool()
        services.cache.start()
        await background.hookQueue.wake()
        await background.webhookDispatcher.onClockSet()
        await background.operations.wake()
        await policies.warnOfExpiry()
        await policies.warnOfLaxPolicies()
        await scheduler.schedule()
        background.trimmer.wake()
    }

    /// Applies new settings of the configuration file. Live runs continue under the old ones, except for trust
    /// policies, which stop the runs they concern.
    ///
    /// - Parameter isRequested: true if an operator has requested the reload. Then directories are used without the file
    ///   systems that were mounted there; else only those are that the settings did not name before.
    /// - Throws: if the trust policies cannot be applied, or entries conflict with those set over RPC
    ///   (`ConfigurationConflicts`); then none of the settings is in force.
    public func reload(_ settings: ManagerSettings, isRequested: Bool = false) async throws {
        let former = context.settings.withLockedValue(\.self)
        try await services.incomplete.add(settings.incompleteDirectory, in: store)
        try await policies.applyConfigured(settings)
        context.profileConflicts.withLockedValue { $0 = [] }
        // Before a task of a former directory can start under the new settings.
        await forgetPlaces(from: former, to: settings, isRequested: isRequested)
        context.settings.withLockedValue { $0 = settings }
        services.engine.strictTransport.setMode(settings.strictTransport)
        await policies.readAuthorities()
        services.rights.apply(settings)
        await profiles.applyConfigured()
        await policies.applyAdmissionLists()
        services.access.environmentProxies.withLockedValue { $0 = settings.environmentProxies }
        services.hooks.definitions.withLockedValue { $0 = HookRunner.byName(settings.hooks) }
        store.follow(WebhookSubscriptions(settings.webhooks), within: settings.deliveryLimits)
        services.space.withLockedValue { $0.reserve = max(0, settings.reserve) }
        services.cache.limits.withLockedValue { $0 = settings.cacheLimits }
        await queue.applyLimits()
        await queue.reportOverridden(changedFrom: former)
        // Higher limits let tasks start.
        await scheduler.schedule()
        await network.applySettings()
        await background.clockFollower.recomputeConditions()
        await background.webhookDispatcher.wake()
    }

    /// The longest time for which disks that do not answer delay the start.
    private static let placesPatience = Duration.seconds(1)

    /// Records the mounts of the directories for destinations, so that their first use finds a missing one.
    private func recordPlaces(of settings: ManagerSettings) async {
        let (admitted, logger) = (services.admitted, logger)
        _ = try? await result(within: Self.placesPatience) {
            let hidden = await admitted.surveyPlaces(
                of: settings.destinationDirectories, includesOthers: false, forgetsHidden: false)
            for directory in hidden {
                logger.warning(
                    "the file system of a directory is not mounted; its tasks wait",
                    metadata: ["directory": "\(directory.path)", "mount_point": "\(directory.mountPoint)"])
            }
        }
    }

    private func forgetPlaces(
        from former: ManagerSettings, to settings: ManagerSettings, isRequested: Bool
    ) async {
        let (old, all) = (former.destinationDirectories, settings.destinationDirectories)
        let removed = old.filter { all[$0.key] == nil }
        if !removed.isEmpty { await services.admitted.keepPlaces(ofFormer: removed) }
        // Tasks may wait for a former root that is named again.
        let kept = isRequested ? [] : await services.admitted.formerRoots()
        let directories = isRequested ? all : all.filter { old[$0.key] == nil && !kept.contains($0.key) }
        guard !directories.isEmpty else { return }
        let hidden = await services.admitted.surveyPlaces(
            of: directories, includesOthers: isRequested, forgetsHidden: true)
        for directory in hidden {
            logger.warning(
                "the file system of a directory is not mounted; from now on the directory is used without it",
                metadata: ["directory": "\(directory.path)", "mount_point": "\(directory.mountPoint)"])
        }
    }

    /// Called when the database becomes writable or stops being so. Nothing starts while it is not. Afterwards, tasks
    /// whose runs could not record their end continue from their last checkpoint.
    func onDegradedChange(_ reason: String?) async {
        if let reason {
            logger.error(
                "the database cannot be written: nothing starts until it can", metadata: ["reason": "\(reason)"])
            await scheduler.hold(.degraded)
            await scheduler.stopAll()
            return
        }
        logger.notice("the database can be written again")
        do {
            _ = try await scheduler.restoreRunning()
            try await scheduler.settleBriefRuns()
            try await staging.settleCommits()
        } catch {
            logger.report("the state could not be restored after a storage failure", error, at: .error)
        }
        await scheduler.release(.degraded)
        await scheduler.schedule()
        background.remoteUploads.wake()
        await network.catchUp()
        await background.hookQueue.wake()
        await background.webhookDispatcher.wake()
        await background.operations.wake()
    }

    // MARK: The end

    /// The longest time for which a disk may delay the end of live work.
    private static let grace = Duration.milliseconds(1200)
    /// The longest time to wait for the end of live work.
    private static let longestGrace = Duration.seconds(10)

    /// Stops all live work and waits for its end; false if a disk delays it, which may never answer.
    private func liveWorkEnded() async -> Bool {
        let hasEnded = NIOLockedValueBox(false)
        Task {
            await scheduler.stopAll()
            await workEnded()
            await background.discarder.shutdown()
            hasEnded.withLockedValue { $0 = true }
        }
        let begin = Clocks.monotonic()
        while !hasEnded.withLockedValue(\.self) {
            let waited = begin.duration(to: Clocks.monotonic())
            if waited > Self.longestGrace || waited > Self.grace && services.paths.isBusy(for: Self.grace) {
                return false
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return true
    }

    /// Ends the service. Afterwards nothing more is written.
    ///
    /// - `suspend` checkpoints live runs and leaves their tasks to the next start.
    /// - `drain` first lets live runs finish; nothing new starts and adds are refused.
    /// - `cancel` first cancels every unfinished task.
    public func shutdown(_ mode: ShutdownMode) async {
        await prepareShutdown(mode)
        await services.renewal.shutdown()
        if await !liveWorkEnded() {
            services.logger.warning("a disk does not answer; the next start continues unfinished work")
        }
        let now = clock()
        _ = try? await store.write { [services] tx in
            try tx.events.append(.daemonStopping(mode: mode), at: now)
            try services.ages.record(in: tx)
        }
        await logRemaining(mode)
        background.activity.shutdown()
        // A disk that does not answer may have kept the live work from reaching its end.
        background.discarder.end()
        await scheduler.stopTimers()
        await network.end()
        await policies.stopTimers()
        await queue.stopTimers()
        await background.hookQueue.shutdown()
        _ = try? await result(within: Self.grace / 4) { [engine = services.engine] in await engine.shutdown() }
        await background.remoteUploads.shutdown()
        await background.webhookDispatcher.shutdown()
        try? await strictTransport.recorder.flush()
        do {
            try store.close()
        } catch {
            logger.report("closing the database failed", error, at: .error)
        }
    }

    /// Logs the unfinished work of the service.
    private func logRemaining(_ mode: ShutdownMode) async {
        guard let counts = try? await store.read({ try $0.counts.byState() }) else { return }
        let left = TaskState.allCases.filter { !$0.isTerminal && counts[$0] ?? 0 > 0 }
        let metadata = Dictionary(
            uniqueKeysWithValues: left.map { ($0.rawValue, Logger.MetadataValue.stringConvertible(counts[$0] ?? 0)) })
        logger.notice("stopping", metadata: metadata.merging(["mode": "\(mode.rawValue)"]) { old, _ in old })
    }

    /// Does the part of a shutdown that may take long, during which clients are still answered: drains or cancels.
    public func prepareShutdown(_ mode: ShutdownMode) async {
        beginShutdown()
        switch mode {
        case .suspend: break
        case .drain: await workEnded()
        case .cancel:
            let unfinished = TaskState.allCases.filter { !$0.isTerminal }
            do {
                _ = try await tasks.apply(.cancel, to: TaskQuery(states: unfinished), for: .service)
            } catch {
                logger.report("cancelling all tasks failed", error, at: .error)
            }
            await workEnded()
            // Unlike `shutdown`, this part may wait for deletions.
            await background.discarder.ended()
        }
    }

    /// Begins the shutdown: from now on no task starts, and adds are refused.
    public func beginShutdown() { context.isShuttingDown.withLockedValue { $0 = true } }

    /// Ends the calls that wait for tasks: they are answered `shutting_down`. Call it when no call is accepted any
    /// more.
    public func endWaits() { hub.endFollowers() }

    /// Waits for the runs, the publishing calls and the operations' steps under way. None begins after `beginShutdown`.
    private func workEnded() async {
        await scheduler.allRunsEnded()
        await staging.ended()
        await background.operations.ended()
    }
}

extension StoreTransaction {
    /// Adapts the waits to a clock that was set while no daemon ran, and appends the event of the start.
    fileprivate func recordStart(_ ages: RetentionAges, version: String, restored: Int64, at now: Timestamp) throws {
        try followClock(ages, at: now)
        let queued = try counts.byState()[.queued] ?? 0
        try events.append(.daemonStarted(version: version, queued: queued, restored: restored), at: now)
    }

    /// Writes the same as `TransferManager.start`, in one transaction that is rolled back.
    func rehearseStart(_ ages: RetentionAges, version: String, at now: Timestamp) throws {
        try briefIntents.remove(of: try briefIntents.all().map(\.task))
        var after: TaskID?
        repeat { after = try restoreRunning(after: after, except: [], at: now).seen.last } while after != nil
        try crashes.removeOfEndedTasks()
        try recordStart(ages, version: version, restored: 0, at: now)
    }
}
