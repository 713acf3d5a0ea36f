import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Ends of runs: what a result makes of its task, in one transaction, and what follows the commit.
extension TransferManager {
    func onRunEnd(_ id: TaskID, _ result: RunResult) async {
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
            machine.setOutcome { $0 = result.outcome }
            if task.specification.kind != .download { machine.onExchange(result.progress) }
            var transition: TaskTransition?
            switch result.end {
            case .completed(let size):
                transition = machine.onComplete(size: size, at: now)
                try tx.releaseReservations(of: id)
                machine.unsubscribe()
                aftermath.discardsBytes = result.outcome.skipped || result.outcome.notModified
                if !aftermath.discardsBytes {
                    aftermath.discardsBytes = try tx.recordPublished(task, from: transfer, size: size)
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
