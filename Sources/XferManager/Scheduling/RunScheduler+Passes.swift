import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore
import XferSystem

/// Passes over the queue. Each picks and starts tasks in one transaction and then launches their runs.
extension RunScheduler {
    /// Starts every task that may start now.
    ///
    /// - Parameter unlessHeld: true if nothing has to be checked while nothing may start.
    func schedule(unlessHeld: Bool = false) {
        if unlessHeld, isHeld { return }
        passes.isWanted = true
        guard !passes.isRunning else { return }
        passes.isRunning = true
        Task { await scheduleUntilSettled() }
    }

    private func scheduleUntilSettled() async {
        while passes.isWanted {
            passes.isWanted = false
            passes.count += 1
            do {
                let (starts, access, wakeUp) = try await startTasks()
                for start in starts.tasks { launch(start) }
                if let access { await launch(starts.briefs, access) }
                passes.resumeWaiters()
                // Others have the same request: they join an ordinary run of it.
                await commitStarts(of: starts.awaited.subtracting(briefs.publishing))
                armTimer(for: [wakeUp, pacedWakeUp].compactMap(\.self).min(), now: clock())
            } catch {
                if TransferManager.isDamage(error) {
                    let recover = MaintenanceCommand.text("--recover", stateDirectory: context.stateDirectory.path)
                    logger.critical(
                        "the database is damaged and nothing can start: stop xferd, then run: \(recover)",
                        metadata: ["error": "\(error)"])
                } else {
                    logger.report("scheduling failed", error)
                    retryLater()
                }
            }
            passes.resumeWaiters()
            context.inFlight.endPass()
            discardUnlaunched()
        }
        passes.isRunning = false
        checkIdleness()
    }

    /// Schedules another pass, unless the failed work ends with one.
    private func retryLater() {
        guard !isHeld, store.degradation == nil else { return }
        let now = clock()
        armTimer(for: now.advanced(by: .seconds(1)), now: now)
    }

    private func armTimer(for target: Timestamp?, now: Timestamp) {
        timers.wake.arm(for: target, now: now) { [weak self] target in await self?.onTimer(target) }
    }

    /// Waits until every start decided on before this call has been launched.
    func passEnded() async {
        guard passes.isRunning else { return }
        await withCheckedContinuation { passes.addWaiter($0) }
    }

    /// Starts every task that may start now, and waits for that. A pass under way may have read the queue too early, so
    /// the next one counts.
    func scheduleNow() async {
        schedule()
        await withCheckedContinuation { passes.addWaiter($0, forNext: true) }
    }

    /// Deletes bytes of cancelled tasks whose stop found neither a run nor a start.
    private func discardUnlaunched() {
        delegate?.discard(passes.removeUnlaunched(), undoing: false)
    }

    /// Picks and starts tasks in one transaction, so that a task's row and transfer exist before its first request.
    /// Also returns the next wake-up, from the same transaction.
    private func startTasks() async throws -> (
        starts: SchedulingPass.Starts, access: RequestAccess?, wakeUp: Timestamp?
    ) {
        // While the database cannot be written, no task can be woken either.
        guard !machine.holds.contains(.degraded) else { return (SchedulingPass.Starts(), nil, nil) }
        let settings = settings
        let (ofOperators, ofGuests) = briefs.publishingCounts.reduce(into: (0, 0)) { counts, entry in
            if settings.isOperator(entry.key) { counts.0 += entry.value } else { counts.1 += entry.value }
        }
        // The end of a brief run causes another pass.
        guard !isHeld, ofOperators < BriefRules.mostPublishing else {
            return (SchedulingPass.Starts(), nil, try await store.read { try $0.nextWakeUp() })
        }
        let access = await briefAccess()
        machine.limits.maxDescriptors = DescriptorRules.budget(
            limit: Descriptors.limit, clients: settings.maxClients)
        machine.origins.advance(to: Clocks.monotonic())
        passes.now = clock()
        var pass = schedulingPass(settings, context.inFlight)
        pass.joinableBriefs = briefs.joinable
        pass.fetchingBriefs = briefs.runs.count - briefs.publishing.count
        if access != nil {
            pass.briefs = (
                uncommitted: store.uncommittedStarts,
                mayBeBrief: {
                    [directories = context.directories, rights = services.rights, publishing = briefs.publishingCounts]
                    task in
                    let mayWait =
                        settings.isOperator(task.owner)
                        || publishing[task.owner, default: 0] < BriefRules.mostOfGuest
                            && ofGuests < BriefRules.mostPublishing
                    guard mayWait, BriefRules.mayBeBrief(task, segments: settings.segments),
                        let roots = rights.knownDestinationRoots(of: task.specification)
                    else { return false }
                    let destination = task.specification.destination
                    // No request is made for a file that could not be kept.
                    return directories.takesFiles(destination.directory, destination.directoryIdentity, roots)
                }
            )
        }
        let (starts, wakeUp) = try await store.write { [pass, clock] tx in
            var pass = pass
            try tx.cooldowns.liftDue(now: clock())
            // A condition that another transaction found open before this one is not closed again.
            pass.now = clock()
            try pass.startAll(in: tx)
            return (pass.starts, try tx.nextWakeUp())
        }
        passes.settle(starts.settled)
        machine.lacksDescriptors = starts.lacksDescriptors
        logUnreadable(starts.unreadable)
        if starts.isIncomplete { passes.isWanted = true }
        // The network became unmetered during the pass, after the other waiting tasks had been woken.
        if starts.hasHeldOffMetered, !isMetered { delegate?.wakeWaitingForNetwork() }
        delegate?.discard(starts.abandoned, undoing: false)
        return (starts, access, wakeUp)
    }

    /// A pass over the present state, at the time of the last pass.
    func schedulingPass(_ settings: ManagerSettings, _ inFlight: InFlightTasks) -> SchedulingPass {
        var pass = SchedulingPass(
            scheduler: machine, live: table.liveTransfers, isSharedBetweenOwners: settings.sharesBetweenOwners,
            inputs: conditionInputs, inFlight: inFlight, isMetered: isMetered, segments: settings.segments,
            now: passes.now, place: { settings.placeOfPart(of: $0) })
        pass.beingDeleted = table.transfersBeingDeleted
        pass.ignoringCooldown = passes.ignoringCooldown
        return pass
    }

    var isMetered: Bool { reachability.withLockedValue(\.isMetered) }

    // MARK: Waking up

    /// Requeues tasks whose wait has ended. `target` is used as the present time if the wall clock was set back.
    private func onTimer(_ target: Timestamp) async {
        timers.wake.onFired()
        let now = max(clock(), target)
        do {
            try await settleConditions()
            let retry = context.settings.withLockedValue(\.retry)
            let (unreadable, waiting) = try await store.write(.bulky) { tx in
                let due = try tx.waits.due(now: now, limit: StoreTransaction.largestStep)
                var waiting: [SpaceWait] = []
                for task in due {
                    if let space = task.error?.space,
                        try tx.transition(task, at: now, { $0.onSpaceCheck(at: now, retry) }).isChange
                    {
                        waiting.append(SpaceWait(task: task.id, owner: task.owner, space: space))
                    } else {
                        try tx.transition(task, at: now) { $0.onWaitOver(at: now) }
                    }
                }
                try tx.tasks.setAside(due.unreadable)
                try tx.cooldowns.liftDue(now: now)
                return (due.unreadable, waiting)
            }
            logUnreadable(unreadable)
            // A disk that does not answer must not delay other tasks.
            if !waiting.isEmpty { Task { await startWithRoom(waiting) } }
        } catch {
            logger.report("waiting tasks could not be started", error)
        }
        schedule()
    }

    /// Evaluates due conditions and notifies dependents of ended tasks, one step of each. The timer fires again at once
    /// for the rest.
    func settleConditions() async throws {
        let (effects, unreadable) = try await store.write(.bulky) {
            [conditionInputs, clock, inFlight = context.inFlight] tx in
            let now = clock()
            let due = try tx.conditions.due(now: now, limit: StoreTransaction.largestStep)
            let effects = try tx.conditions.apply(to: Array(due), conditionInputs, inFlight, at: now)
            try tx.tasks.setAside(due.unreadable)
            try tx.dependencies.notifyDependents(conditionInputs, at: now)
            return (effects, due.unreadable)
        }
        logUnreadable(unreadable)
        await perform(effects)
    }

    func logUnreadable(_ tasks: [TaskID]) {
        guard !tasks.isEmpty else { return }
        context.recordDamage(tasks)
        logger.error(
            "tasks whose rows of the database are damaged were paused",
            metadata: ["tasks": "\(tasks.map(\.description).joined(separator: " "))"])
    }

    /// Computes the time left until the next wake-up again, because the wall clock was set.
    func onClockSet() { timers.wake.disarm() }

    /// Stops all timers.
    func stopTimers() { timers.stop() }
}

extension StoreReader {
    /// The time at which the first wait or cooldown ends or a condition is due; in the past if dependents have to be
    /// notified.
    fileprivate func nextWakeUp() throws -> Timestamp? {
        if try dependencies.nextEndedTarget() != nil { return Timestamp(seconds: 0) }
        return [try waits.earliestEnd(), try cooldowns.earliestEnd(), try conditions.earliest()].compactMap(\.self)
            .min()
    }
}
