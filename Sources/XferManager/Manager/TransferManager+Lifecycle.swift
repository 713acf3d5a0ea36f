import Logging
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore

/// Start and end of the service.
extension TransferManager {
    /// Restores what the last daemon left and starts work. To be called before any client is accepted.
    public func start() async throws {
        stateDirectory.writeHolder()
        try await loadOverrides()
        let restored = try await restoreRunning()
        await followCrashes()
        try await settleCommits()
        let now = clock()
        let version = version
        let state = beginFollowingNetwork()
        try await store.write { [services] tx in
            try Self.followClock(services.ages, in: tx, at: now)
            let queued = try tx.counts()[.queued] ?? 0
            try tx.append(
                .daemonStarted(version: version, queued: queued, restored: Int64(clamping: restored)), at: now)
            try tx.append(.networkChanged(state: state), at: now)
        }
        wakeWaitingForNetwork()
        discardOrphans()
        abandonUploads()
        sweepSpool()
        services.cache.start()
        await hookQueue.wake()
        await warnOfExpiry()
        schedule()
        maintain()
    }

    /// Requeues tasks that are `running` in the database and have no run: after a crash, a clean stop or a time without
    /// storage. Returns how many.
    func restoreRunning() async throws -> Int {
        var after: TaskID?
        var count = 0
        while true {
            let live = Set(runs.keys)
            let now = clock()
            let page = try await store.write { [after] tx in
                let tasks = try tx.tasks(inState: .running, after: after, limit: 500)
                for task in tasks where !live.contains(task.id) {
                    var machine = TaskStateMachine(task)
                    let transition = machine.onRestore(at: now, canContinue: try !tx.mayHaveBegun(task))
                    try tx.update(machine.task)
                    if let event = transition.event {
                        try tx.append(event, taskID: task.id, owner: task.owner, at: now)
                    }
                }
                return tasks.map(\.id)
            }
            count += page.count { !live.contains($0) }
            guard let last = page.last else { return count }
            after = last
        }
    }

    /// Ends the service. Afterwards nothing is written any more.
    ///
    /// - `suspend` checkpoints live runs and leaves their tasks to the next start.
    /// - `drain` first lets live runs finish; nothing new starts and adds are refused.
    /// - `cancel` first cancels every unfinished task.
    public func shutdown(_ mode: ShutdownMode) async {
        await prepareShutdown(mode)
        isEnding = true
        for live in runs.values { await stop(live) }
        await runsEnded()
        while let discarding { await discarding.value }
        let now = clock()
        _ = try? await store.write { [services] tx in
            try tx.append(.daemonStopping(mode: mode), at: now)
            try services.ages.record(in: tx)
        }
        ticker?.cancel()
        activityTimer?.cancel()
        endFollowingNetwork()
        timer.arm(for: nil, now: now) { _ in }
        expiryTimer.arm(for: nil, now: now) { _ in }
        rateTimer.arm(for: nil, now: now) { _ in }
        remoteUploadCleanup.timer.arm(for: nil, now: now) { _ in }
        await hookQueue.shutdown()
        await services.engine.shutdown()
        await remoteUploadCleanup.task?.value
        do {
            try store.close()
        } catch {
            logger.report("closing the database failed", error, at: .error)
        }
    }

    /// The part of a shutdown that may take long, during which clients are still answered: drains or cancels.
    public func prepareShutdown(_ mode: ShutdownMode) async {
        beginShutdown()
        switch mode {
        case .suspend: break
        case .drain: await runsEnded()
        case .cancel:
            let unfinished = TaskState.allCases.filter { !$0.isTerminal }
            do {
                _ = try await apply(.cancel, to: TaskQuery(states: unfinished), for: .service)
            } catch {
                logger.report("cancelling all tasks failed", error, at: .error)
            }
            await runsEnded()
            // Unlike `shutdown`, this part may wait for deletions.
            await discarding?.value
        }
    }

    /// From now on no task starts, and adds are refused.
    public func beginShutdown() { scheduler.holds.insert(.shuttingDown) }

    private func runsEnded() async {
        guard !runs.isEmpty || !commits.isEmpty else { return }
        await withCheckedContinuation { drainWaiters.append($0) }
    }
}
