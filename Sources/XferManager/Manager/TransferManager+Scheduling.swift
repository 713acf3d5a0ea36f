import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Starts runs, and handles their ends.
extension TransferManager {
    /// Starts every task that may start now.
    func schedule() {
        wantsScheduling = true
        guard !isScheduling else { return }
        isScheduling = true
        Task { await scheduleUntilSettled() }
    }

    private func scheduleUntilSettled() async {
        while wantsScheduling {
            wantsScheduling = false
            passCount += 1
            do {
                let (started, wakeUp) = try await startTasks()
                for start in started { launch(start) }
                endPass()
                timer.arm(for: wakeUp, now: clock()) { [weak self] target in await self?.onTimer(target) }
            } catch {
                if Self.isDamage(error) {
                    logger.critical(
                        "the database is damaged and nothing can start: stop, then run xferd --recover",
                        metadata: ["error": "\(error)"])
                } else {
                    logger.report("scheduling failed", error)
                }
            }
            endPass()
            inFlight.endPass()
            discardUnlaunched()
        }
        isScheduling = false
    }

    private func endPass() {
        let due = passWaiters.filter { $0.pass <= passCount }
        passWaiters.removeAll { $0.pass <= passCount }
        for waiter in due { waiter.continuation.resume() }
    }

    /// Waits until every start decided on before this call has been launched.
    func passEnded() async {
        guard isScheduling else { return }
        await withCheckedContinuation { passWaiters.append((passCount, $0)) }
    }

    /// Starts every task that may start now, and waits for that. A pass under way may have read the queue too early, so
    /// the next one counts.
    func scheduleNow() async {
        schedule()
        await withCheckedContinuation { passWaiters.append((passCount + 1, $0)) }
    }

    /// Deletes bytes of cancelled tasks whose stop found neither a run nor a start.
    private func discardUnlaunched() {
        let orphans = stopsBeforeLaunch.values.compactMap(\.self)
        stopsBeforeLaunch = [:]
        ratesBeforeLaunch = [:]
        discard(orphans)
    }

    /// Picks and starts tasks in one transaction, so that a task's row and transfer exist before its first request.
    /// Also returns the next wake-up, from the same transaction.
    private func startTasks() async throws -> (started: [SchedulingPass.Start], wakeUp: Timestamp?) {
        // While the database cannot be written, no task can be woken either.
        guard !scheduler.holds.contains(.degraded) else { return ([], nil) }
        guard scheduler.holds.isEmpty else { return ([], try await store.read { try $0.nextWakeUp() }) }
        scheduler.limits.maxDescriptors = DescriptorRules.budget(
            limit: Descriptors.limit, clients: settings.maxClients)
        var starting = SchedulingPass(
            scheduler: scheduler, live: liveTransfers, isSharedBetweenOwners: settings.sharesBetweenOwners,
            zones: zones, inFlight: inFlight, isMetered: network.reachability.isMetered,
            segments: settings.segments, now: clock())
        starting.beingDeleted = transfersBeingDeleted
        let (starts, wakeUp) = try await store.write { [starting] tx in
            var starting = starting
            try starting.startAll(in: tx)
            return (starting.starts, try tx.nextWakeUp())
        }
        if starts.isIncomplete { wantsScheduling = true }
        // The network became unmetered during the pass, after the other waiting tasks had been woken.
        if starts.hasHeldOffMetered, !network.reachability.isMetered { wakeWaitingForNetwork() }
        discard(starts.abandoned)
        return (starts.tasks, wakeUp)
    }

    private func launch(_ start: SchedulingPass.Start) {
        let transfer = start.transfer
        var task = start.task
        let id = task.id
        if let rates = ratesBeforeLaunch.removeValue(forKey: id) {
            (task.specification.maxReceiveRate, task.specification.maxSendRate) = rates
        }
        let control = RunControl(kind: task.specification.kind)
        let isJudgedOtherwise = isJudgedOtherwise(transfer.id)
        let live = join(task, transfer, isNew: start.isNew)
        let run = makeRun(of: task, transfer, control: control, live)
        scheduler.onStart(id, of: transfer.id, from: task.lane, descriptors: start.descriptors)
        inFlight.launch(id)
        runs[id] = LiveRun(
            run: run, transfer: transfer.id, control: control, trust: live.trust, owner: task.owner,
            progressInterval: .seconds(task.specification.progressInterval),
            mayStop: RepetitionRules.mayRepeat(task.specification))
        runs[id]?.allowsMetered = task.specification.request.allowsMetered
        // The stop was requested between the start's commit and this point: the run ends before its first byte.
        let isStopped = stopsBeforeLaunch.removeValue(forKey: id) != nil || isKeptOffMetered(id)
        if isStopped || isJudgedOtherwise || scheduler.holds.contains(.shuttingDown) { _ = control.requestStop() }
        runs[id]?.reevaluatesTrust = isJudgedOtherwise
        startTicker()
        noteRunning()
        Task {
            let result = await run.execute()
            await self.onRunEnd(id, result)
        }
    }

    /// Whether the transfer runs under policies that are no longer in force. It stops; a task that joins it starts
    /// again afterwards.
    private func isJudgedOtherwise(_ id: TransferID) -> Bool {
        transfers[id]?.trust.isStale(
            under: services.policies.withLockedValue(\.self), services.admission.withLockedValue(\.self), at: clock())
            ?? false
    }

    /// Creates the run for this kind of task.
    private func makeRun(
        of task: TransferTask, _ transfer: Transfer, control: RunControl, _ live: LiveTransfer
    ) -> any TaskRun {
        let context = context(of: task, transfer.id, control, live.trust)
        let facts = RunState(task, transfer)
        if task.specification.kind == .download, let shared = live.shared {
            return DownloadRun(context, facts, shared)
        }
        return switch task.specification.kind {
        case .upload where task.specification.upload.uploadProtocol != .plain: UploadRun(context, facts)
        case .download, .data, .upload: ExchangeRun(context, facts, live.shared)
        }
    }

    // MARK: Waking up

    /// Requeues tasks whose wait is over. `target` counts as now if the wall clock was set back.
    private func onTimer(_ target: Timestamp) async {
        timer.onFired()
        let now = max(clock(), target)
        do {
            try await settleConditions()
            try await store.write(.bulky) { tx in
                for task in try tx.dueWaits(now: now, limit: Self.largestStep) {
                    var machine = TaskStateMachine(task)
                    _ = machine.onWaitOver(at: now)
                    try tx.update(machine.task)
                }
                for host in try tx.expiredCooldowns(now: now, limit: Self.largestStep) {
                    try tx.setCooldown(host: host, until: nil)
                }
            }
        } catch {
            logger.report("waking waiting tasks failed", error)
        }
        schedule()
    }
}

extension StoreReader {
    /// When the first wait or cooldown ends or a condition is due; in the past if dependents have to be notified.
    fileprivate func nextWakeUp() throws -> Timestamp? {
        if try nextEndedTarget() != nil { return Timestamp(seconds: 0) }
        return [try earliestWaitUntil(), try earliestCooldown(), try earliestCondition()].compactMap(\.self).min()
    }
}

extension StoreTransaction {
    /// Completes batches, then appends `queue.idle` if no task can run any more.
    func noteIdle(at now: Timestamp) throws {
        try completeBatches()
        guard try !hasAny(in: [.queued, .running, .waiting]) else { return }
        let counts = try counts()
        try append(.queueIdle(completed: counts[.completed] ?? 0, failed: counts[.failed] ?? 0), at: now)
    }
}
