import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore

/// A transfer while tasks run on it.
struct LiveTransfer {
    /// Makes the requests; nil if the task makes its own, which is never shared.
    let shared: SharedTransfer?
    let trust: RunTrust
    /// Tasks with this key may join; nil if none may any more.
    var key: [UInt8]?
    let owner: Owner
    var tasks: Set<TaskID> = []
    /// Whether more than one task has ever run on it.
    var wasShared = false
}

/// Joining and leaving live transfers.
extension TransferManager {
    /// The live transfers, as a scheduling pass sees them.
    var liveTransfers: [TransferID: SchedulingPass.Live] {
        transfers.mapValues { SchedulingPass.Live(key: $0.key, owner: $0.owner) }
    }

    /// Adds a task to a transfer.
    ///
    /// - Parameter isNew: whether no task has used the transfer before.
    func join(_ task: TransferTask, _ transfer: Transfer, isNew: Bool) -> LiveTransfer {
        var live = transfers[transfer.id] ?? makeLive(task, transfer, isNew: isNew)
        live.wasShared = live.wasShared || !live.tasks.isEmpty
        live.tasks.insert(task.id)
        live.shared?.expect(task)
        transfers[transfer.id] = live
        return live
    }

    private func makeLive(_ task: TransferTask, _ transfer: Transfer, isNew: Bool) -> LiveTransfer {
        let trust = RunTrust(
            policies: services.policies, admission: services.admission, taskPolicy: task.specification.policy,
            authoritiesFile: settings.authoritiesFile, kept: transfer.sources, clock: clock)
        let key = SharingRules.mayBeJoined(transfer) ? task.coalesceKey : nil
        let kind = task.specification.kind
        guard kind == .download || kind == .data && key != nil else {
            return LiveTransfer(shared: nil, trust: trust, key: key, owner: task.owner)
        }
        let context = context(of: task, transfer.id, RunControl(kind: kind), trust)
        let shared = SharedTransfer(context, transfer, isNew: isNew)
        return LiveTransfer(shared: shared, trust: trust, key: key, owner: task.owner)
    }

    func context(
        of task: TransferTask, _ transfer: TransferID, _ control: RunControl, _ trust: RunTrust
    ) -> RunContext {
        RunContext(
            taskID: task.id, specification: task.specification, services: services, settings: settings,
            control: control, trust: trust, tries: task.attempts,
            onBodyEnd: { [weak self] in await self?.onBodyEnd(transfer) })
    }

    /// Called when the last byte has arrived: frees the slot and closes the transfer to further tasks. When this
    /// returns, no task joins any more.
    func onBodyEnd(_ id: TransferID) async {
        scheduler.onBodyEnd(id)
        let mayBeJoined = transfers[id]?.key != nil
        transfers[id]?.key = nil
        let isPassing = isScheduling
        schedule()
        if mayBeJoined, isPassing { await passEnded() }
    }

    /// Removes a task from a transfer. Returns the transfer if it may have no task any more.
    func leave(_ id: TransferID, _ task: TaskID) -> [TransferID] {
        transfers[id]?.tasks.remove(task)
        transfers[id]?.shared?.started.onFailureCommitted(of: task)
        guard let live = transfers[id], live.tasks.isEmpty else { return [] }
        transfers[id] = nil
        if let shared = live.shared { metrics.onTraffic(shared.control.measure(Clocks.monotonic())) }
        return live.wasShared ? [id] : []
    }

    /// Before the last member leaves a transfer, lets queued tasks join it, so that the transfer continues.
    func letOthersJoin(_ live: LiveRun) async {
        guard isLast(live) else { return }
        // A pass may have started a task on it that is not launched yet.
        await passEnded()
        guard isLast(live), let key = transfers[live.transfer]?.key, scheduler.holds.isEmpty,
            let found = try? await store.read({ try $0.queued(coalescing: key, limit: 1) }), !found.isEmpty
        else { return }
        await scheduleNow()
    }

    /// Whether all other tasks on its transfer were asked to stop, and the transfer can still be joined.
    private func isLast(_ live: LiveRun) -> Bool {
        guard let transfer = transfers[live.transfer], transfer.key != nil else { return false }
        return transfer.tasks.allSatisfy { $0 == live.run.taskID || runs[$0]?.control.isStopRequested ?? true }
    }
}
