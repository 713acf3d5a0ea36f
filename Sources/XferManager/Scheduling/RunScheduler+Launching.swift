import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferSystem

/// Launches the runs of started tasks, and lets tasks join and leave live transfers.
extension RunScheduler {
    /// Makes and starts the run of a start that is committed. Nothing here suspends: the requests that came after the
    /// commit are in `passes`, later ones find the run.
    ///
    /// - Parameters:
    ///   - brief: the run that this one continues.
    ///   - ticket: of its request.
    func launch(
        _ start: SchedulingPass.Start, continuing brief: BriefRun? = nil, _ ticket: OriginWindow.Ticket? = nil
    ) {
        let transfer = start.transfer
        var task = start.task
        let id = task.id
        if let rates = passes.rates.removeValue(forKey: id) {
            (task.specification.maxReceiveRate, task.specification.maxSendRate) = rates
        }
        let control = RunControl(of: task)
        let isStale = isStale(transfer.id)
        let live = join(task, transfer, isNew: start.isNew, continuing: brief)
        let run = makeRun(of: task, transfer, control: control, live)
        let kind = TransferMix.kind(of: task)
        machine.onStart(
            id, of: transfer.id, from: task.lane, descriptors: start.descriptors, kind: kind,
            continuing: ticket, at: Clocks.monotonic())
        context.inFlight.launch(id)
        let launched = LiveRun(
            run: run, transfer: transfer.id, host: task.host, control: control, trust: live.trust, owner: task.owner,
            progressInterval: .seconds(task.specification.progressInterval),
            mayStop: RepetitionRules.mayRepeat(task.specification), reevaluatesTrust: isStale,
            allowsMetered: task.specification.request.allowsMetered, wasKnownLarge: kind == .large,
            begunAt: brief?.begunAt ?? Clocks.monotonic())
        table.runs[id] = launched
        // The stop was requested between the start's commit and this point: the run ends before its first byte.
        let isStopped = passes.stops.removeValue(forKey: id) != nil || isKeptOffMetered(id)
        if isStopped || isStale || isShuttingDown { _ = control.requestStop() }
        if task.attempts == 1, task.startedAt == task.lastProgressAt { context.metrics.onFirstStart(task) }
        // What the attempt has received since its beginning counts for the rate.
        if let brief { _ = live.shared?.control.measure(brief.begunAt) }
        startTicker()
        delegate?.onRunningCount(machine.runningCount)
        Task {
            // While the task is expected, the transfer does not stop.
            if isStopped { await letOthersJoin(launched) }
            let result = await run.execute()
            await self.onRunEnd(id, result)
        }
    }

    /// True if the transfer runs under policies that are no longer in force. It stops; a task that joins it starts
    /// again afterwards.
    private func isStale(_ id: TransferID) -> Bool {
        transfers[id]?.trust.isStale(
            under: services.policies.withLockedValue(\.self), services.admission.withLockedValue(\.self), at: clock())
            ?? false
    }

    /// Creates the run for this kind of task.
    private func makeRun(
        of task: TransferTask, _ transfer: Transfer, control: RunControl, _ live: LiveTransfer
    ) -> any TaskRun {
        let context = runContext(of: task, transfer.id, control, live.trust)
        let state = RunState(task, transfer)
        if task.specification.kind == .download, let shared = live.shared {
            return DownloadRun(context, state, shared)
        }
        return switch task.specification.kind {
        case .upload where task.specification.upload.uploadProtocol != .plain: UploadRun(context, state)
        case .download, .data, .upload: ExchangeRun(context, state, live.shared)
        }
    }

    // MARK: Joining and leaving transfers

    /// Adds a task to a transfer.
    ///
    /// - Parameter isNew: whether no task has used the transfer before.
    private func join(
        _ task: TransferTask, _ transfer: Transfer, isNew: Bool, continuing brief: BriefRun?
    ) -> LiveTransfer {
        let live = transfers[transfer.id] ?? makeLive(task, transfer, isNew: isNew, continuing: brief)
        return table.join(task, transfer.id, live)
    }

    private func makeLive(
        _ task: TransferTask, _ transfer: Transfer, isNew: Bool, continuing brief: BriefRun?
    ) -> LiveTransfer {
        let trust =
            brief?.trust
            ?? RunTrust(
                policies: services.policies, admission: services.admission, taskPolicy: task.specification.policy,
                authoritiesFile: context.settings.withLockedValue(\.self).authoritiesFile(
                    of: task.specification.request),
                kept: transfer.sources, clock: clock)
        let key = SharingRules.mayBeJoined(transfer) ? task.coalesceKey : nil
        let kind = task.specification.kind
        guard kind == .download || kind == .data && key != nil else {
            return LiveTransfer(shared: nil, trust: trust, key: key, owner: task.owner)
        }
        let context = runContext(of: task, transfer.id, RunControl(of: task), trust)
        let shared = SharedTransfer(context, transfer, isNew: isNew, begun: brief?.handle)
        return LiveTransfer(shared: shared, trust: trust, key: key, owner: task.owner)
    }

    private func runContext(
        of task: TransferTask, _ transfer: TransferID, _ control: RunControl, _ trust: RunTrust
    ) -> RunContext {
        RunContext(
            taskID: task.id, specification: task.specification, services: services, settings: settings,
            control: control, trust: trust, tries: task.attempts,
            onBodyEnd: { [weak self] in await self?.onBodyEnd(transfer) })
    }

    /// Frees the slot and closes the transfer to further tasks, because the last byte has arrived. When this returns,
    /// no further task joins.
    private func onBodyEnd(_ id: TransferID) async {
        recordBody(of: id)
        machine.onBodyEnd(id)
        refusals.onBodyEnd(of: id, in: table)
        let mayBeJoined = transfers[id]?.key != nil
        table.transfers[id]?.key = nil
        let isPassing = passes.isRunning
        schedule()
        if mayBeJoined, isPassing { await passEnded() }
    }

    /// Removes a task from a transfer. Returns the transfer if it may have no task any more.
    func leave(_ id: TransferID, _ task: TaskID) -> [TransferID] {
        guard let live = table.leave(id, task) else { return [] }
        if let shared = live.shared { context.metrics.onTraffic(shared.control.measure(Clocks.monotonic())) }
        return live.wasShared ? [id] : []
    }

    // MARK: Deleting transfers

    /// Prevents passes from starting a task on those of these transfers that have no live run now. Returns them, once
    /// the starts of the present pass are launched: from then on, the tasks that the database shows for them do not
    /// change. A transfer that is live now is discarded again when its last run leaves it. Ended by `endDeleting`.
    func beginDeleting(_ ids: Set<TransferID>) async -> Set<TransferID> {
        // The order matters. A pass knows what was live and what was being deleted when it began. So a transfer has to
        // be idle before it counts as being deleted: otherwise a pass that still saw it live could start a task on it
        // after its last run has left, and the task would stay `running` on a transfer without a row.
        table.transfersBeingDeleted = ids.filter { transfers[$0] == nil }
        await passEnded()
        return table.transfersBeingDeleted.filter { transfers[$0] == nil }
    }

    /// Narrows the deletion to these transfers; the others can be used again.
    func narrowDeleting(to ids: Set<TransferID>) { table.transfersBeingDeleted = ids }

    func endDeleting() { table.transfersBeingDeleted = [] }
}
