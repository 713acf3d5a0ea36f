import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel
import XferStore
import XferSystem

/// Brief runs: their beginning, their end, and how an ordinary run takes over. See `BriefRun`.
extension RunScheduler {
    // MARK: Beginning

    /// The request settings that all attempts of brief runs share; nil while no pass may pick tasks for them.
    func briefAccess() async -> RequestAccess? {
        guard !store.uncommittedStarts.isWanted else { return nil }
        // An ordinary run reports what is wrong with it.
        return try? await services.access.plainAccess()
    }

    /// Begins the attempts of the tasks that a pass has picked.
    func launch(_ picked: [BriefStart], _ access: RequestAccess) async {
        let starts = withoutLapsedLeases(picked)
        guard !starts.isEmpty else { return }
        let settings = settings
        let (begunAt, startedAt) = (Clocks.monotonic(), clock())
        var attempts: [Attempt] = []
        for start in starts {
            let task = start.task
            let trust = RunTrust(
                policies: services.policies, admission: services.admission, taskPolicy: task.specification.policy,
                authoritiesFile: settings.authoritiesFile, kept: [], clock: clock)
            machine.onStart(
                task.id, of: BriefRun.place(of: task.id), from: task.lane, descriptors: start.descriptors, at: begunAt)
            context.inFlight.launch(task.id)
            briefs.insert(
                BriefRun(
                    task: task, descriptors: start.descriptors, trust: trust, startedAt: startedAt, begunAt: begunAt))
            attempts.append(attempt(of: task, access, trust, settings))
        }
        startTicker()
        delegate?.onRunningCount(machine.runningCount)
        for (start, handle) in zip(starts, await services.engine.start(attempts)) {
            if briefs.runs[start.task.id] == nil { await services.engine.stop(handle.id) }
            briefs.setHandle(handle, of: start.task.id)
        }
        if isShuttingDown || machine.holds.contains(.degraded) { await stopBriefRuns() }
        await commitStarts(of: briefs.unusual)
    }

    /// Returns the tasks whose leases have ended since they were picked, because another daemon may have them. The next
    /// pass makes them wait.
    private func withoutLapsedLeases(_ picked: [BriefStart]) -> [BriefStart] {
        let lapsed = picked.map(\.task).filter { !services.leases.isInForce($0.specification.schedule.lease) }.map(\.id)
        guard !lapsed.isEmpty else { return picked }
        for id in lapsed { context.inFlight.leave(id) }
        store.uncommittedStarts.release(lapsed)
        schedule()
        return picked.filter { !lapsed.contains($0.task.id) }
    }

    private func attempt(
        of task: TransferTask, _ common: RequestAccess, _ trust: RunTrust, _ settings: ManagerSettings
    ) -> Attempt {
        let specification = task.specification
        var access = common
        access.connections = specification.request.connections
        trust.beginAttempt()
        var attempt = Attempt(
            request: specification.request, endDigest: specification.checksum,
            sink: .movable(limit: BriefRules.largestBody), maxReceiveRate: specification.maxReceiveRate,
            maxSendRate: specification.maxSendRate, rateScopes: specification.rateScopes,
            checkpoints: settings.checkpoints, session: access.sessions(heldTo: trust),
            onServer: { [trust] in trust.record($0) })
        attempt.leastRate = settings.leastRate(of: specification.request)
        attempt.onMovable = { [reports = briefs.reports, id = task.id, weak self] outcome in
            guard reports.add((id, outcome)), let self else { return }
            Task { await self.takeReports() }
        }
        return attempt
    }

    // MARK: Reports

    private func takeReports() async {
        let now = Clocks.monotonic()
        for (id, outcome) in briefs.reports.removeAll() {
            guard briefs.runs[id]?.stage == .fetching else { continue }
            if let body = outcome.flatMap({ wholeBody(of: id, $0) }) {
                let place = BriefRun.place(of: id)
                let answer = OriginWindow.Outcome.answered(
                    body.trace, of: body.task.host, bytes: Int64(clamping: body.bytes.count))
                machine.record(answer, of: place, at: now)
                machine.onBodyEnd(place)
                briefs.enter(.publishing, id)
                briefs.append(body)
            } else {
                briefs.unusual.insert(id)
            }
        }
        schedule()
        publishBriefly()
        await commitStarts(of: briefs.unusual)
    }

    private func wholeBody(of id: TaskID, _ outcome: AttemptOutcome) -> BriefBody? {
        guard let run = briefs.runs[id], !briefs.unusual.contains(id), case .complete = outcome.result,
            let head = outcome.head,
            let bytes = outcome.body, BriefRules.isWhole(head, of: outcome.offset)
        else { return nil }
        let body = BriefBody(
            task: run.task, startedAt: run.startedAt, arrivedAt: Clocks.monotonic(), bytes: bytes, head: head,
            finalURL: outcome.finalURL, trace: outcome.trace)
        // An ordinary run warns of it.
        let isOdd = run.task.specification.warning(aboutType: head.mediaType, named: body.name) != nil
        if isOdd { return nil }
        context.metrics.onTraffic(Traffic(received: outcome.offset))
        services.recordProof(outcome, since: run.begunAt)
        services.logLaxTrust(run.trust, of: id)
        services.logIgnoredDigests(of: head, for: run.task.specification.request, id)
        return body
    }

    // MARK: Publishing

    private func publishBriefly() {
        for (place, sleep) in briefs.gathering where pauseBeforeRound(of: place) == .zero { sleep.cancel() }
        for place in briefs.ready.keys where briefs.rounds[place] == nil {
            briefs.rounds[place] = BriefRuns.Round(begunAt: Clocks.monotonic())
            Task { await publishRounds(of: place) }
        }
    }

    private func pauseBeforeRound(of place: BriefRuns.Place) -> Duration {
        guard let waiting = briefs.ready[place], let first = waiting.first else { return .zero }
        return BriefRules.pauseBeforeRound(
            after: first.arrivedAt.duration(to: Clocks.monotonic()), waiting: waiting.count,
            fetching: briefs.runs.count - briefs.publishing.count)
    }

    private func publishRounds(of place: BriefRuns.Place) async {
        while briefs.ready[place] != nil {
            let pause = pauseBeforeRound(of: place)
            if pause > .zero {
                let sleep = Task { () -> Void in try? await Task.sleep(for: pause) }
                briefs.gathering[place] = sleep
                await sleep.value
                briefs.gathering[place] = nil
            }
            let round = briefs.removeRound(of: place)
            guard !round.isEmpty else { continue }
            let ids = round.map(\.task.id)
            briefs.rounds[place] = BriefRuns.Round(begunAt: Clocks.monotonic(), tasks: ids)
            let publisher = BriefPublisher(services: services, settings: settings, failedURLs: failedURLs)
            let outcome = await publisher.publish(round)
            // From here on the round cannot be left any more.
            briefs.rounds[place]?.tasks = []
            services.unansweredPublishes.withLockedValue { $0.subtract(ids) }
            await apply(outcome)
        }
        briefs.rounds[place] = nil
    }

    private func apply(_ outcome: BriefPublisher.Outcome) async {
        for id in outcome.completed {
            guard let run = briefs.runs[id] else { continue }
            var started = run.task
            started.startedAt = run.startedAt
            context.metrics.onFirstStart(started)
            context.metrics.onRunEnd(after: run.begunAt.duration(to: Clocks.monotonic()))
        }
        briefs.directory = outcome.directory
        forgetBriefRuns(outcome.completed)
        if !outcome.completed.isEmpty { delegate?.onRunEnded() }
        // The round may have been left meanwhile.
        briefs.unusual.formUnion(outcome.others.filter { briefs.runs[$0] != nil })
        await commitStarts(of: briefs.unusual)
        await settle(outcome.unsettled)
    }

    /// Compares the files that may have been published with their intents. While the database cannot be written, that
    /// is postponed.
    private func settle(_ ids: [TaskID]) async {
        guard !ids.isEmpty else { return }
        do {
            try await settleBriefIntents(of: Set(ids))
            forgetBriefRuns(ids)
        } catch {
            logger.report("published files could not be compared with their intents", error)
            briefs.unsettled.formUnion(ids)
        }
    }

    /// Settles the brief runs that remained when the database could not be written; see `settleBriefIntents`.
    func settleBriefRuns() async throws {
        guard !briefs.unsettled.isEmpty else { return }
        let ids = briefs.unsettled
        try await settleBriefIntents(of: ids)
        briefs.unsettled = []
        forgetBriefRuns(Array(ids))
    }

    /// Removes brief runs that have ended, or whose rows contain everything that is needed.
    private func forgetBriefRuns(_ ids: [TaskID]) {
        guard !ids.isEmpty else { return }
        for id in ids {
            guard briefs.remove(id) != nil else { continue }
            machine.onEnd(id)
            context.inFlight.leave(id)
        }
        store.uncommittedStarts.release(ids)
        for id in ids { waiters.onEnd(of: id) }
        delegate?.onRunningCount(machine.runningCount)
        resumeDrainWaiters()
        schedule()
    }

    // MARK: Taking over

    /// Commits the starts of all brief runs that can still be ordinary ones, so that their tasks can be changed.
    func commitAllStarts() async {
        await passEnded()
        await showBriefRuns()
    }

    /// Commits the starts of brief runs before their tasks are listed or counted, so that a reader finds that they run.
    func showBriefRuns() async {
        await commitStarts(of: Set(briefs.runs.keys).subtracting(briefs.publishing))
    }

    /// Commits the starts of the runs that have lasted long.
    func commitOverdueStarts() async {
        let now = Clocks.monotonic()
        let overdue = briefs.runs.filter { $0.value.begunAt.duration(to: now) >= BriefRules.longestRun }
        // A directory does not answer: ordinary runs wait for it, and say so.
        let stranded = briefs.removeReady(behindRoundsBefore: now.advanced(by: .zero - PathPools.patience))
        briefs.unusual.formUnion(stranded.map(\.task.id))
        await commitStarts(of: Set(overdue.keys).subtracting(briefs.publishing).union(stranded.map(\.task.id)))
        await leaveRounds(begunBefore: now.advanced(by: .zero - PathPools.patience * 2))
    }

    /// Leaves the rounds that began before `limit`: the disk has not answered since the intents were committed. The
    /// tasks are free for verbs and for ordinary runs, which wait for the end of the round and say so.
    func leaveRounds(begunBefore limit: MonotonicInstant) async {
        let ids = briefs.tasks(ofRoundsBefore: limit)
        guard !ids.isEmpty, !machine.holds.contains(.degraded) else { return }
        services.unansweredPublishes.withLockedValue { $0.formUnion(ids) }
        let now = clock()
        do {
            try await store.write { [settings] tx in
                try tx.asStarter { try tx.leaveBriefRound(of: ids, settings, at: now) }
            }
            forgetBriefRuns(ids)
        } catch {
            // Tried again with the next tick.
            logger.report("tasks whose disk does not answer could not be recorded", error)
        }
    }

    /// Commits starts. Ordinary runs continue with the attempts.
    func commitStarts(of ids: Set<TaskID>) async {
        // A run whose attempt is being begun follows in `launch`.
        let chosen = ids.sorted().compactMap { briefs.runs[$0] }.filter { $0.stage != .starting && $0.handle != nil }
        guard !chosen.isEmpty else { return }
        for run in chosen { briefs.enter(.starting, run.task.id) }
        let now = clock()
        do {
            let starts = try await store.write { [settings] tx in
                try tx.asStarter { try chosen.map { try tx.recordBriefStart($0, settings, at: now) } }
            }
            for (run, start) in zip(chosen, starts) {
                let id = run.task.id
                guard let start, let known = briefs.remove(id) else {
                    await drop([run])
                    continue
                }
                let ticket = machine.detachTicket(of: known.place)
                machine.onEnd(id)
                launch(start, continuing: known, ticket)
            }
            store.uncommittedStarts.release(chosen.map(\.task.id))
            schedule()
        } catch {
            logger.report("starts could not be recorded; the tasks are queued as before", error)
            await drop(chosen)
        }
    }

    /// Stops the runs whose tasks can be queued as before. The files that are being published get their names.
    func stopBriefRuns() async {
        let waiting = Set(briefs.removeAllReady().map(\.task.id))
        await drop(briefs.runs.values.filter { $0.stage == .fetching || waiting.contains($0.task.id) })
    }

    private func drop(_ runs: [BriefRun]) async {
        forgetBriefRuns(runs.map(\.task.id))
        for run in runs { if let handle = run.handle { await services.engine.stop(handle.id) } }
    }
}
