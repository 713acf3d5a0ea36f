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
        let starting = SchedulingPass(
            scheduler: scheduler, live: liveTransfers, isSharedBetweenOwners: settings.sharesBetweenOwners,
            zones: zones, inFlight: inFlight, isMetered: network.reachability.isMetered,
            segments: settings.segments, now: clock())
        let (starts, wakeUp) = try await store.write { tx in
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

    private func onRunEnd(_ id: TaskID, _ result: RunResult) async {
        runs[id]?.isEnding = true
        var unwanted: [TransferID] = []
        let facts = network.reachability.facts
        do {
            let reevaluatesTrust = reevaluatesTrust(id, result)
            let aftermath = try await commitEnd(of: id, result, reevaluatesTrust: reevaluatesTrust)
            if aftermath.discardsBytes { unwanted.append(result.transferID) }
            removeSpoolFiles(aftermath.spoolFiles)
        } catch {
            logger.report(
                "a run's end could not be recorded; it goes on from its last checkpoint", error, ["task": "\(id)"])
        }
        // The task may now wait for a network change that has happened meanwhile.
        if facts != network.reachability.facts { wakeWaitingForNetwork() }
        scheduler.onEnd(id)
        inFlight.leave(id)
        if let live = runs.removeValue(forKey: id) {
            metrics.onTraffic(live.control.measure(Clocks.monotonic()))
            unwanted += leave(live.transfer, id)
            // The task has moved to a transfer of its own.
            if live.transfer != result.transferID, !unwanted.contains(live.transfer) { unwanted.append(live.transfer) }
        }
        discard(unwanted, undoing: result.isPublished)
        for waiter in endWaiters.removeValue(forKey: id) ?? [] { waiter.resume() }
        noteRunning()
        noteDrained()
        schedule()
        maintain()
    }

    /// Resumes the callers that wait for the last run and the last commit.
    func noteDrained() {
        guard runs.isEmpty, commits.isEmpty else { return }
        for waiter in drainWaiters { waiter.resume() }
        drainWaiters = []
    }

    /// Whether the run ended because its policies or lists have changed.
    private func reevaluatesTrust(_ id: TaskID, _ result: RunResult) -> Bool {
        guard let live = runs[id] else { return false }
        switch result.end {
        case .stopped:
            return live.reevaluatesTrust
        case .failed(let error)
        where [.trustRejected, .pinMismatch, .revocationUnknown, .policyMissing, .rejectedByPolicy].contains(
            error.reason):
            return live.trust.isStale(
                under: services.policies.withLockedValue(\.self), services.admission.withLockedValue(\.self),
                at: clock())
        case .completed, .staged, .failed, .again, .storageFailed, .overtaken:
            return false
        }
    }

    /// What to clean up once a run's end is committed.
    private struct Aftermath: Sendable {
        var discardsBytes = false
        /// Files of the spool directory that no row names any more.
        var spoolFiles: [String] = []
    }

    private func commitEnd(
        of id: TaskID, _ result: RunResult, reevaluatesTrust: Bool
    ) async throws -> Aftermath {
        let now = clock()
        let retry = settings.retry
        let seed = random.next()
        let isShuttingDown = isShuttingDown
        let network = network.reachability.condition(since: runs[id]?.begunAt ?? Clocks.monotonic())
        let failedURLs = failedURLs
        return try await store.write(.gathered) { tx in
            var aftermath = Aftermath()
            let transfer = result.transferID
            guard let task = try tx.task(id), task.transferID == transfer, task.state == .running else {
                return Self.aftermathOfOvertaken(result)
            }
            for event in result.pendingEvents { try tx.append(event, taskID: id, owner: task.owner, at: now) }
            var machine = TaskStateMachine(task)
            machine.note { $0 = result.outcome }
            if task.specification.kind != .download { machine.onExchange(result.progress) }
            var transition: TaskTransition?
            switch result.end {
            case .completed(let size):
                transition = machine.onComplete(size: size, at: now)
                try tx.releaseReservations(of: id)
                machine.unsubscribe()
                aftermath.discardsBytes = result.outcome.skipped || result.outcome.notModified
                if !aftermath.discardsBytes {
                    aftermath.discardsBytes = try tx.notePublished(task, from: transfer, size: size)
                }
            case .staged(let size):
                transition = machine.onStage(size: size)
            case .failed where reevaluatesTrust:
                transition = machine.onRequeue()
            case .failed(let error):
                var generator = SeededGenerator(seed: seed)
                transition = try Self.retryOrFail(
                    &machine, after: error, requestWasSent: result.requestWasSent, retry, network, in: tx, at: now,
                    using: &generator)
                if result.leavesTransfer {
                    machine.unsubscribe()
                    machine.onBytesLost()
                    aftermath.discardsBytes = true
                }
                if result.isPartLost, try !tx.isHeld(transfer, but: id) {
                    // Another file may have the name by now, or the same inode number.
                    try tx.setPublishIntent(nil, of: transfer)
                    try tx.update(resumeData: ResumeData(), of: transfer)
                    machine.onBytesLost()
                }
                // There is nothing to keep for a later try.
                if machine.task.state == .failed, !result.isResumable || result.isPartLost {
                    machine.unsubscribe()
                    aftermath.discardsBytes = true
                }
            case .again:
                transition = machine.onRequeue()
            case .stopped, .storageFailed, .overtaken:
                transition = Self.onStopped(
                    &machine, result, reevaluatesTrust: reevaluatesTrust, isShuttingDown: isShuttingDown, at: now)
            }
            try tx.update(machine.task, from: task)
            try failedURLs.note(machine.task, in: tx, at: now)
            if case .completed = result.end, !aftermath.discardsBytes, try !tx.isHeld(transfer) {
                try tx.deleteTransfer(transfer)
            }
            aftermath.spoolFiles = try Self.settleSpool(machine.task, result.keptResponse, in: tx, at: now)
            if let event = transition?.event { try tx.append(event, taskID: id, owner: task.owner, at: now) }
            if machine.task.state.isTerminal || machine.task.state == .staged { try tx.noteIdle(at: now) }
            return aftermath
        }
    }

    /// Handles the end of a run whose task was cancelled, paused or removed meanwhile.
    private static func aftermathOfOvertaken(_ result: RunResult) -> Aftermath {
        // The bytes are kept if another task holds them.
        var aftermath = Aftermath(discardsBytes: true)
        if let file = result.keptResponse?.file { aftermath.spoolFiles = [file.name] }
        return aftermath
    }

    /// Requeues a stopped task: the stop was meant for an earlier run, or its reason no longer applies. On shutdown the
    /// task stays `running` for the next start. If its request must not be repeated, the task fails when the request
    /// was sent and is requeued when it was not, because the next start assumes that a running task has sent it.
    private static func onStopped(
        _ machine: inout TaskStateMachine, _ result: RunResult, reevaluatesTrust: Bool, isShuttingDown: Bool,
        at now: Timestamp
    ) -> TaskTransition? {
        let specification = machine.task.specification
        let mayRepeat = RepetitionRules.mayRepeat(specification)
        if !mayRepeat, result.requestWasSent {
            return machine.onFail(RepetitionRules.outcomeUnknown(after: nil, of: specification.request), at: now)
        }
        return isShuttingDown && !reevaluatesTrust && mayRepeat ? nil : machine.onRequeue()
    }

    /// Stores the response of a task that has ended, and removes the sources of a completed upload. Returns the spool
    /// files that no row names any more.
    private static func settleSpool(
        _ task: TransferTask, _ kept: KeptResponse?, in tx: StoreTransaction, at now: Timestamp
    ) throws -> [String] {
        var unwanted: [String] = []
        if let kept {
            if task.state.isTerminal {
                if case .file(let name)? = try tx.result(of: task.id)?.content { unwanted.append(name) }
                try tx.setResult(kept.result, of: task.id, at: now)
            } else if let file = kept.file {
                unwanted.append(file.name)
            }
        }
        guard task.specification.upload.isSpooled, task.state == .completed else { return unwanted }
        unwanted += try tx.spooledSources(of: task.id)
        try tx.removeSpooledSources(of: task.id)
        return unwanted
    }

    private static func retryOrFail(
        _ machine: inout TaskStateMachine, after error: TransferError, requestWasSent: Bool, _ retry: RetryPolicy,
        _ network: NetworkCondition, in tx: StoreTransaction, at now: Timestamp, using random: inout SeededGenerator
    ) throws -> TaskTransition {
        // A `Retry-After` of another host does not apply to the task's host.
        let isOfHost = machine.task.specification.mirrors.isEmpty || error.host == machine.task.host
        if let retryAfter = error.retryAfter, retryAfter > 0, isOfHost {
            let until = now.advanced(by: .seconds(min(retryAfter, RetryPolicy.longestRetryAfter)))
            try tx.setCooldown(host: machine.task.host, until: until)
        }
        switch retry.decide(
            after: error, of: machine.task, at: now, requestWasSent: requestWasSent, network: network, using: &random)
        {
        case .again:
            return machine.onRequeue()
        case .wait(let wait):
            return machine.onWait(wait, error: error)
        case .fail(let error):
            try tx.releaseReservations(of: machine.task.id)
            return machine.onFail(error, at: now)
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

/// SplitMix64 (Steele, Lea, Flood 2014): a transaction that runs twice draws the same numbers.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension TaskStateMachine {
    /// Records the final counters of a run.
    fileprivate mutating func onExchange(_ progress: RunProgress) {
        onExchange(received: progress.received, sent: progress.sent, total: progress.total)
    }
}
