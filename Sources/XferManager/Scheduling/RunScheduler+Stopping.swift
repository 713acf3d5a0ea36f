import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore

/// Stops runs, and performs the actions of committed transitions.
extension RunScheduler {
    /// Performs the actions of committed transitions.
    func perform(_ effects: [Effect]) async {
        var orphans: [TransferID] = []
        for effect in effects {
            if effect.ignoresCooldown { passes.letStart(effect.task) }
            switch effect.action {
            case .stopAttempt:
                await stopRun(of: effect.task, discarding: nil)
            case .stopAttemptAndDiscardBytes:
                if await !stopRun(of: effect.task, discarding: effect.transfer), let transfer = effect.transfer {
                    orphans.append(transfer)
                }
            case .discardBytes, .forget:
                if let transfer = effect.transfer, !isInUse(effect.task) { orphans.append(transfer) }
            case .none, .schedule, .startAttempt:
                break
            }
        }
        delegate?.discard(orphans, undoing: false)
        services.removeSpoolFiles(effects.flatMap(\.spoolFiles))
        if !effects.isEmpty { schedule() }
    }

    /// Requests a task's run to stop. A run whose start is committed but not launched yet stops when it is launched.
    /// Returns false if there is neither.
    ///
    /// - Parameter transfer: discarded if no start was committed.
    @discardableResult
    func stopRun(of id: TaskID, discarding transfer: TransferID?) async -> Bool {
        if let live = runs[id] {
            await letOthersJoin(live)
            await live.stop()
            return true
        }
        guard passes.isRunning else { return false }
        passes.stops[id] = .some(transfer)
        return true
    }

    /// Stops every run at its next safe point.
    func stopAll() async {
        await stopBriefRuns()
        for live in runs.values { await live.stop() }
    }

    /// Stops the runs of these tasks, which return to the queue with their bytes. Two kinds of runs continue: those
    /// whose request must not be repeated, and those whose file is being published.
    func requeueRuns(matching query: TaskQuery) async throws {
        await commitAllStarts()
        let ids = try await store.read { reader -> [TaskID] in
            guard let last = try reader.tasks.lastID() else { return [] }
            let ids = try reader.tasks.ids(matching: query, upTo: last, limit: 100_000)
            return try ids.filter { id in
                guard let task = try reader.tasks.find(id) else { return false }
                let isBound = try reader.isPublishing(task) || reader.mayHaveBegun(task)
                return !isBound && RepetitionRules.mayRepeat(task.specification)
            }
        }
        for id in ids { await stopRun(of: id, discarding: nil) }
    }

    /// True if a run or a publish still works on the task's bytes. They are discarded only when it has ended, because
    /// it would create again files that are deleted before.
    func isInUse(_ id: TaskID) -> Bool {
        runs[id] != nil || briefs.runs[id] != nil || passes.stops[id] != nil
            || beingPublished.withLockedValue { $0.contains(id) }
    }

    /// The tasks among these whose bytes are in use; see `isInUse`.
    func tasksInUse(among ids: [TaskID]) -> Set<TaskID> { Set(ids.filter(isInUse)) }

    /// Waits until the task has no run.
    func runEnded(_ id: TaskID) async {
        guard runs[id] != nil || briefs.runs[id] != nil else { return }
        await withCheckedContinuation { waiters.add($0, forEndOf: id) }
    }

    /// Waits until no task has a run, including starts that are committed but not launched yet.
    func allRunsEnded() async {
        await passEnded()
        guard !runs.isEmpty || !briefs.runs.isEmpty else { return }
        await withCheckedContinuation { waiters.addForDrain($0) }
    }

    /// Makes queued tasks join a transfer before its last member leaves it, so that the transfer continues. When this
    /// returns, every task that a pass has started on the transfer is launched.
    func letOthersJoin(_ live: LiveRun) async {
        guard table.isLast(live) else { return }
        await wakingEnded()
        // A pass may have started a task on it that is not launched yet.
        await passEnded()
        guard table.isLast(live), let key = transfers[live.transfer]?.key, !isHeld else { return }
        let found = try? await store.read { try $0.tasks.queued(coalescing: key, limit: 1) }
        guard let found, !found.isEmpty else {
            // Nothing is queued, perhaps because a pass that began meanwhile has just started it.
            return await passEnded()
        }
        await scheduleNow()
    }

    // MARK: Changed tasks

    /// Applies a committed change of a task to its run.
    ///
    /// - Parameter earlier: the specification before.
    func onUpdate(_ task: TransferTask, from earlier: TaskSpecification) async {
        let (id, changed) = (task.id, task.specification)
        machine.onRegroup(id, group: task.group)
        if changed.maxReceiveRate != earlier.maxReceiveRate || changed.maxSendRate != earlier.maxSendRate {
            if let live = runs[id] {
                await live.run.setMaxRates(receive: changed.maxReceiveRate, send: changed.maxSendRate)
            } else if passes.isRunning {
                passes.rates[id] = (receive: changed.maxReceiveRate, send: changed.maxSendRate)
            }
        }
        await keepOffMetered(id, allowsMetered: changed.request.allowsMetered)
        schedule()
    }

    // MARK: Metered networks

    /// True if this run must not continue over the current, metered network.
    func isKeptOffMetered(_ id: TaskID) -> Bool {
        guard isMetered, let live = runs[id], !live.allowsMetered, live.mayStop else { return false }
        return live.isTransferring
    }

    /// Stops runs that may not use a metered network at their next checkpoint. Their tasks return to the queue and wait
    /// there.
    func leaveMeteredLinks() async {
        for (id, live) in runs where isKeptOffMetered(id) { await live.stop() }
    }

    private func keepOffMetered(_ id: TaskID, allowsMetered: Bool) async {
        if runs[id] != nil {
            table.runs[id]?.allowsMetered = allowsMetered
            if isKeptOffMetered(id), let live = runs[id] { await live.stop() }
        } else if passes.isRunning, isMetered, !allowsMetered, passes.stops[id] == nil {
            passes.stops[id] = .some(nil)
        }
    }

    // MARK: Dead connections

    /// The progress of a run at some moment.
    struct RunSnapshot: Sendable {
        let begunAt: MonotonicInstant
        let bytes: Int64
    }

    var snapshots: [TaskID: RunSnapshot] {
        runs.mapValues { RunSnapshot(begunAt: $0.begunAt, bytes: $0.byteCount) }
    }

    /// Restarts runs that have moved no byte since then, unless that would lose their bytes.
    func restartStalled(since earlier: [TaskID: RunSnapshot]) async {
        for (id, live) in runs {
            guard let known = earlier[id], known.begunAt == live.begunAt, known.bytes == live.byteCount,
                live.mayStop, live.isTransferring, known.bytes == 0 || live.control.isResumable == true
            else { continue }
            await live.stop()
        }
    }

    // MARK: Trust

    /// Stops the runs that these policies and rules would judge otherwise; they are judged again. Returns those that
    /// can no longer be stopped, because their files are getting their names.
    func reevaluateTrust(under policies: PolicyRegistry, _ rules: AdmissionRules, at now: Timestamp) async -> [TaskID] {
        // No task joins a transfer under the old judgement.
        for (id, transfer) in transfers where transfer.trust.isStale(under: policies, rules, at: now) {
            table.transfers[id]?.key = nil
        }
        await commitAllStarts()
        var tooLate = Array(briefs.publishing)
        var seen: Set<TaskID> = []
        // A request that must not be repeated was judged when it was sent, and stopping it has no use. A run that
        // starts meanwhile is stopped, too.
        while let (id, live) = runs.first(where: {
            $1.mayStop && !seen.contains($0) && $1.trust.isStale(under: policies, rules, at: now)
        }) {
            seen.insert(id)
            table.runs[id]?.reevaluatesTrust = true
            await live.stop()
            if live.control.isPublishing { tooLate.append(id) }
        }
        return tooLate
    }
}

/// The actions for a task once its transition is committed.
struct Effect: Sendable {
    var task: TaskID
    var transfer: TransferID?
    var action: TaskAction
    /// Files of the spool directory that no row refers to any more.
    var spoolFiles: [String] = []
    /// True if the task starts although its host cools down.
    var ignoresCooldown = false
}
