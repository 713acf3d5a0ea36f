import XferCore
import XferFiles
import XferModel
import XferStore

/// The inputs for committing the end of a run, besides its result.
struct RunEndRules: Sendable {
    /// True if the run ended because its policies or lists have changed.
    var reevaluatesTrust: Bool
    var isShuttingDown: Bool
    var retry: RetryPolicy
    /// The network's changes since the run began.
    var network: NetworkCondition
    /// The number of other transfers of the host; see `Refusal.meaning`.
    var othersOfHost = 0
    /// True if the host's window has shrunk for this refusal: the task repeats its request when fewer are in progress,
    /// and this does not count as an attempt.
    var isBackedOff = false
    /// True if the answer is the server's and not a portal's; see `NetworkProof`.
    var isAuthentic: Bool
    var failedURLs: FailedURLList
    /// The seed for the jitter of waits.
    var seed: UInt64
    var now: Timestamp
}

/// The work that follows the commit of a run's end.
struct RunAftermath: Sendable {
    var discardsBytes = false
    /// Files of the spool directory to which no row refers.
    var spoolFiles: [String] = []

    /// The work after a run whose task was cancelled, paused or removed meanwhile.
    static func ofOvertaken(_ result: RunResult) -> RunAftermath {
        // The bytes are kept if another task holds them.
        var aftermath = RunAftermath(discardsBytes: true)
        if let file = result.keptResponse?.file { aftermath.spoolFiles = [file.name] }
        return aftermath
    }
}

/// The effect of a run's end on its task.
extension StoreTransaction {
    /// Records how a run ended: completes, retries, fails or requeues its task.
    func recordRunEnd(_ id: TaskID, _ result: RunResult, _ rules: RunEndRules) throws -> RunAftermath {
        var aftermath = RunAftermath()
        let transfer = result.transferID
        guard let task = try tasks.find(id), task.transferID == transfer, task.state == .running else {
            return .ofOvertaken(result)
        }
        for event in result.pendingEvents { try events.append(event, taskID: id, owner: task.owner, at: rules.now) }
        var machine = TaskStateMachine(task)
        machine.setOutcome { $0 = result.outcome }
        if task.specification.kind != .download { machine.onExchange(result.progress) }
        var transition: TaskTransition?
        switch result.end {
        case .completed(let size):
            transition = machine.onComplete(size: size, at: rules.now)
            try reservations.release(of: id)
            machine.unsubscribe()
            aftermath.discardsBytes = result.outcome.skipped || result.outcome.notModified
            if !aftermath.discardsBytes {
                aftermath.discardsBytes = try publishedFiles.record(task, from: transfer, size: size)
            }
        case .staged(let size):
            transition = machine.onStage(size: size)
        case .failed where rules.reevaluatesTrust:
            transition = machine.onRequeue()
        case .failed(let error):
            var generator = SeededGenerator(seed: rules.seed)
            transition = try retryOrFail(
                &machine, after: error, requestWasSent: result.requestWasSent, rules, using: &generator)
            if result.leavesTransfer {
                machine.unsubscribe()
                try discardBytes(
                    of: &machine, because: "the received bytes are in another task's directory: \(error.message)",
                    at: rules.now)
                aftermath.discardsBytes = true
            }
            if result.isPartLost, try !transfers.isUsed(transfer, but: id) {
                // Another file may have the name by now, or the same inode number.
                try transfers.setPublishIntent(nil, of: transfer)
                try transfers.update(resumeData: ResumeData(), of: transfer)
                try discardBytes(of: &machine, because: error.message, at: rules.now)
            }
            // There is nothing to keep for a later try.
            if machine.task.state == .failed, !result.isResumable || result.isPartLost {
                machine.unsubscribe()
                if task.specification.kind == .download {
                    try discardBytes(
                        of: &machine, because: "the task has failed, and a later attempt cannot continue them",
                        at: rules.now)
                }
                aftermath.discardsBytes = true
            }
        case .again:
            transition = machine.onRequeue()
        case .stopped, .storageFailed, .overtaken:
            transition = Self.onStopped(&machine, result, rules)
        }
        try write(machine, transition, from: task, at: rules.now)
        try rules.failedURLs.record(machine.task, in: self, isAuthentic: rules.isAuthentic, at: rules.now)
        if case .completed = result.end, !aftermath.discardsBytes, try !transfers.isUsed(transfer) {
            try transfers.delete(transfer)
        }
        aftermath.spoolFiles = try settleSpool(machine.task, result.keptResponse, at: rules.now)
        if machine.task.state.isTerminal || machine.task.state == .staged { try appendIdleIfNothingRuns(at: rules.now) }
        return aftermath
    }

    /// Requeues a stopped task: the stop was meant for an earlier run, or its reason no longer applies. On shutdown the
    /// task stays `running` for the next start. If its request must not be repeated, the task fails when the request
    /// was sent and is requeued when it was not, because the next start assumes that a running task has sent it.
    private static func onStopped(
        _ machine: inout TaskStateMachine, _ result: RunResult, _ rules: RunEndRules
    ) -> TaskTransition? {
        let specification = machine.task.specification
        let mayRepeat = RepetitionRules.mayRepeat(specification)
        if !mayRepeat, result.requestWasSent {
            return machine.onFail(RepetitionRules.outcomeUnknown(after: nil, of: specification.request), at: rules.now)
        }
        return rules.isShuttingDown && !rules.reevaluatesTrust && mayRepeat ? nil : machine.onRequeue()
    }

    /// Stores the response of a task that has ended, and removes the sources of a completed upload. Returns the spool
    /// files to which no row refers any more.
    private func settleSpool(
        _ task: TransferTask, _ kept: KeptResponse?, at now: Timestamp
    ) throws -> [String] {
        var unwanted: [String] = []
        if let kept {
            if task.state.isTerminal {
                if case .file(let name)? = try results.find(of: task.id)?.content { unwanted.append(name) }
                try results.set(kept.result, of: task.id, at: now)
            } else if let file = kept.file {
                unwanted.append(file.name)
            }
        }
        guard task.specification.upload.isSpooled, task.state == .completed else { return unwanted }
        unwanted += try spool.sources(of: task.id)
        try spool.removeSources(of: task.id)
        return unwanted
    }

    private func retryOrFail(
        _ machine: inout TaskStateMachine, after error: TransferError, requestWasSent: Bool, _ rules: RunEndRules,
        using random: inout SeededGenerator
    ) throws -> TaskTransition {
        if rules.isBackedOff,
            !requestWasSent || RepetitionRules.mayRepeat(machine.task.specification, after: error)
        {
            return machine.onRequeue()
        }
        try cooldowns.begin(after: error, of: machine.task, at: rules.now, using: &random)
        let failure = Refusal.counted(
            SpaceWaitRules.counted(error, after: machine.task.error), of: machine.task,
            othersOfHost: rules.othersOfHost)
        switch rules.retry.decide(
            after: failure, of: machine.task, at: rules.now, requestWasSent: requestWasSent, network: rules.network,
            othersOfHost: rules.othersOfHost, using: &random)
        {
        case .again:
            return machine.onRequeue()
        case .wait(let wait):
            return machine.onWait(wait, error: failure)
        case .fail(let error):
            try reservations.release(of: machine.task.id)
            return machine.onFail(error, at: rules.now)
        }
    }
}

extension TaskStateMachine {
    /// Records the final counters of a run.
    fileprivate mutating func onExchange(_ progress: RunProgress) {
        onExchange(received: progress.received, sent: progress.sent, total: progress.total)
    }
}
