import XferCore
import XferModel
import XferSystem

/// The live runs and the transfers that they share.
struct RunTable {
    /// The live runs by task. A queued task takes no memory.
    var runs: [TaskID: LiveRun] = [:]
    /// The transfers of these runs.
    var transfers: [TransferID: LiveTransfer] = [:]
    /// Transfers whose files and then rows are being deleted. No task is started on them.
    var transfersBeingDeleted: Set<TransferID> = []

    // MARK: Joining and leaving transfers

    /// The live transfers, as a scheduling pass sees them.
    var liveTransfers: [TransferID: SchedulingPass.Live] {
        transfers.mapValues { SchedulingPass.Live(key: $0.key, owner: $0.owner) }
    }

    /// Adds a task to a transfer. Returns the transfer with the task.
    mutating func join(_ task: TransferTask, _ id: TransferID, _ transfer: LiveTransfer) -> LiveTransfer {
        var live = transfer
        live.wasShared = live.wasShared || !live.tasks.isEmpty
        live.tasks.insert(task.id)
        live.shared?.expect(task)
        transfers[id] = live
        return live
    }

    /// Removes a task from a transfer. Returns the transfer if this was its last task.
    mutating func leave(_ id: TransferID, _ task: TaskID) -> LiveTransfer? {
        transfers[id]?.tasks.remove(task)
        transfers[id]?.shared?.started.onFailureCommitted(of: task)
        guard let live = transfers[id], live.tasks.isEmpty else { return nil }
        transfers[id] = nil
        return live
    }

    /// True if all other tasks on its transfer were requested to stop, and the transfer can still be joined.
    func isLast(_ live: LiveRun) -> Bool {
        guard let transfer = transfers[live.transfer], transfer.key != nil else { return false }
        return transfer.tasks.allSatisfy { $0 == live.run.taskID || runs[$0]?.control.isStopRequested ?? true }
    }

    /// True if only this task has been stopped: the request continues for the others of its transfer. If all of them
    /// stop at once, the end of the slot ends the request.
    func isContinuedByOthers(_ live: LiveRun, _ result: RunResult) -> Bool {
        guard case .stopped = result.end, let transfer = transfers[live.transfer] else { return false }
        return transfer.ticket == nil && transfer.tasks.count > 1
    }

    // MARK: Hosts and kinds

    /// The number of the host's transfers whose bodies arrive now, besides this one.
    func servedTransfers(of host: String, besides transfer: TransferID) -> Int {
        let served = runs.values.filter {
            $0.host == host && $0.transfer != transfer && $0.control.progress.phase == .transferring
        }
        return Set(served.map(\.transfer)).count
    }

    /// The number of transfers of this task's host whose bodies arrive now, besides the task's own.
    func servedTransfers(besides id: TaskID) -> Int {
        runs[id].map { servedTransfers(of: $0.host, besides: $0.transfer) } ?? 0
    }

    /// The first run of each transfer: tasks that have joined a transfer are younger than it is.
    var oldestRuns: [TransferID: LiveRun] {
        var oldest: [TransferID: LiveRun] = [:]
        for live in runs.values where oldest[live.transfer].map({ live.begunAt < $0.begunAt }) ?? true {
            oldest[live.transfer] = live
        }
        return oldest
    }

    /// The large transfers, and which of them may return to the queue; see `TransferMix.surplus`.
    ///
    /// - Parameter youth: the greatest age of a transfer that may return.
    func largeTransfers(
        where isLarge: (TransferID) -> Bool, at now: MonotonicInstant, youth: Duration
    ) -> [TransferMix.Large] {
        transfers.compactMap { id, transfer -> TransferMix.Large? in
            guard isLarge(id), let task = transfer.tasks.first, let live = runs[task] else { return nil }
            let isKept = live.byteCount == 0 || live.control.isResumable == true
            let mayReturn =
                transfer.tasks.count == 1 && live.mayStop && live.isTransferring && isKept && !live.wasKnownLarge
                && live.begunAt.duration(to: now) <= youth
            return TransferMix.Large(
                transfer: id, begunAt: live.begunAt, mayReturn: mayReturn,
                isStopping: transfer.tasks.allSatisfy { runs[$0]?.control.isStopRequested ?? true })
        }
    }
}

/// A task's run while it lives.
struct LiveRun {
    let run: any TaskRun
    /// The transfer it was started on.
    let transfer: TransferID
    /// The host whose lane the task was in.
    let host: String
    let control: RunControl
    let trust: RunTrust
    let owner: Owner
    let progressInterval: Duration
    /// True if it can be stopped and repeated later.
    let mayStop: Bool
    /// True if its policies have changed, so that it stops and is queued again.
    var reevaluatesTrust = false
    var lastProgress: MonotonicInstant?
    /// True if it may use metered networks.
    var allowsMetered = true
    /// True if an earlier attempt had shown that it is large.
    var wasKnownLarge = false
    let begunAt: MonotonicInstant
    /// True if the run has ended and its end is being committed.
    var isEnding = false

    /// Requests it to stop at the next safe point.
    func stop() async { await run.stop() }

    /// The number of bytes moved in both directions.
    var byteCount: Int64 { control.progress.received.addingSaturated(control.progress.sent) }

    /// The present counters of the run.
    func snapshot(of id: TaskID) -> ProgressSnapshot {
        let progress = control.progress
        return ProgressSnapshot(
            taskID: id, owner: owner, kind: progress.kind, phase: progress.phase, received: progress.received,
            sent: progress.sent, total: progress.total, rate: control.rate, connections: control.mover.attempts.count)
    }

    /// True while its body is received or awaited; in other phases the bytes have arrived already.
    var isTransferring: Bool { [.connecting, .transferring].contains(control.progress.phase) }
}

/// A transfer while tasks run on it.
struct LiveTransfer {
    /// Makes the requests; nil if the task makes its own, which is never shared.
    let shared: SharedTransfer?
    let trust: RunTrust
    /// Tasks with this key may join; nil if none may any more.
    var key: [UInt8]?
    let owner: Owner
    var tasks: Set<TaskID> = []
    /// True if more than one task has run on it.
    var wasShared = false
    /// The request in its origin's window, while its body has ended and its outcome is not known.
    var ticket: OriginWindow.Ticket?
    /// True if its origin has refused it because of other requests; see `RunScheduler.recordOrigin`.
    var isBackedOff = false
}
