import XferCore
import XferCurl
import XferModel
import XferSystem

/// Live counters: sampled while tasks run, never stored.
extension RunScheduler {
    private static var tick: Duration { .milliseconds(250) }

    /// Counters of the running ones among these tasks.
    func progress(of ids: [TaskID]) -> [TaskID: ProgressSnapshot] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in runs[id].map { (id, $0.snapshot(of: id)) } })
    }

    /// The traces of the current or last attempts of the running tasks among these.
    func traces(of ids: [TaskID]) -> [TaskID: AttemptTrace] {
        ids.reduce(into: [:]) { known, id in known[id] = runs[id]?.control.trace }
    }

    /// Bytes of the answer that a running `data` task is receiving; see `TransferEngine.answer`. After the last byte,
    /// until the answer is stored, only the number of bytes.
    func answer(to id: TaskID, at offset: Int64, upTo length: Int) async -> AnswerPart? {
        guard let control = runs[id]?.control, control.progress.kind == .data else { return nil }
        if let attempt = control.mover.attempts.first {
            return await services.engine.answer(of: attempt.id, at: offset, upTo: length)
        }
        let progress = control.progress
        guard progress.phase != .connecting, let trace = control.trace else { return nil }
        return AnswerPart(bytes: [], received: progress.received, beganAt: trace.beganAt)
    }

    /// The number of tasks that run.
    var runningCount: Int { machine.runningCount }

    /// Counters of every running task that this owner may see, or of all tasks (nil), ascending by id.
    func progressOfAll(visibleTo owner: Owner?) -> [ProgressSnapshot] {
        runs.filter { owner == nil || $0.value.owner == owner }.map { $1.snapshot(of: $0) }
            .sorted { $0.taskID < $1.taskID }
    }

    /// Samples rates and publishes progress while runs live. It ends with the last run, so that an idle daemon sleeps.
    func startTicker() {
        guard timers.ticker == nil else { return }
        timers.ticker = Task {
            while !Task.isCancelled, !runs.isEmpty || !briefs.runs.isEmpty {
                sampleProgress()
                await commitOverdueStarts()
                classifyTransfers()
                await returnSurplus()
                try? await Task.sleep(for: Self.tick, clock: .continuous)
            }
            timers.ticker = nil
        }
    }

    /// Bytes per second over all tasks that this owner may see, or over all tasks (nil). A shared transfer counts once.
    func rates(visibleTo owner: Owner?) -> Traffic {
        var seen: Set<ObjectIdentifier> = []
        return runs.values.reduce(into: Traffic()) { sum, live in
            let mover = live.control.mover
            guard owner == nil || live.owner == owner, seen.insert(ObjectIdentifier(mover)).inserted else { return }
            sum += mover.rates
        }
    }

    /// Returns for the running tasks among these: true if their kept bytes can be continued; nil while that is unknown.
    func resumability(of ids: [TaskID]) -> [TaskID: Bool?] {
        ids.reduce(into: [:]) { known, id in if let live = runs[id] { known[id] = .some(live.control.isResumable) } }
    }

    /// Transfers whose bodies are on the way, and the limits in force.
    var activity: (activeCount: Int, limits: SchedulerLimits, isPaused: Bool) {
        (machine.activeCount, machine.limits, machine.holds.contains(.pausedByOperator))
    }

    /// The windows of origins, and the machine that applies them.
    var origins: (windows: OriginWindows, machine: SchedulerStateMachine) { (machine.origins, machine) }

    /// The waits that keep queued tasks of these lanes from starting now.
    func obstacles(to lanes: Set<QueueLane>, groupLimits: [GroupKey: Int]) -> [QueueLane: Wait] {
        lanes.reduce(into: [:]) { found, lane in
            let reason = machine.obstacle(to: lane, groupLimit: lane.group.flatMap { groupLimits[$0] })
            found[lane] = reason.map {
                Wait($0, limit: $0 == .hostFull ? machine.maxActive(of: lane.host) : nil)
            }
        }
    }

    /// The queued tasks among these whose previous runs are still stopping. They start when those runs have ended.
    ///
    /// A run that was not stopped is none of these: the task's row was read before its start was committed.
    func endingRuns(among queued: [TaskID]) -> Set<TaskID> {
        Set(queued.filter { id in runs[id]?.control.isStopRequested ?? false })
    }

    /// Publishes the final counters of an upload, before its end is committed: its terminal event follows them. A
    /// subscription knows those of other kinds by the terminal event itself.
    func publishLastProgress(of id: TaskID, _ result: RunResult) {
        guard case .completed(let size) = result.end, let live = runs[id], !live.control.isStopRequested,
            context.hub.hasProgressSubscribers
        else { return }
        var last = live.snapshot(of: id)
        guard last.kind == .upload else { return }
        (last.sent, last.total) = (size, size)
        context.hub.publish([last])
    }

    func sampleProgress() {
        let now = Clocks.monotonic()
        for live in transfers.values {
            if let shared = live.shared { context.metrics.onTraffic(shared.control.measure(now)) }
        }
        let isWanted = context.hub.hasProgressSubscribers
        var due: [ProgressSnapshot] = []
        for id in Array(runs.keys) {
            guard var live = runs[id] else { continue }
            context.metrics.onTraffic(live.control.measure(now))
            let isDue = live.lastProgress.map { $0.duration(to: now) >= live.progressInterval - Self.tick / 2 } ?? true
            // A stopped task may have published its terminal event, which no event may follow.
            if isWanted, isDue, !live.isEnding, !live.control.isStopRequested {
                live.lastProgress = now
                due.append(live.snapshot(of: id))
            }
            table.runs[id] = live
        }
        if !due.isEmpty { context.hub.publish(due.sorted { $0.taskID < $1.taskID }) }
    }
}
