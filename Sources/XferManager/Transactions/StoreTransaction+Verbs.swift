import XferCore
import XferModel
import XferStore

/// Verbs over tasks.
extension StoreTransaction {
    /// Applies a verb to these tasks. Also returns the effects to perform after the commit.
    func apply(
        _ verb: TaskVerb, to ids: [TaskID], for principal: Principal, at now: Timestamp
    ) throws -> (VerbOutcome, [Effect]) {
        var outcome = VerbOutcome()
        var effects: [Effect] = []
        var hasEnded = false
        for id in ids {
            guard let task = try StoreError.nilIfUnreadable({ try visibleTask(id, to: principal) }) else {
                outcome.missing.append(id)
                continue
            }
            let spoolFiles = try spoolFiles(after: verb, of: task)
            guard let (action, ended) = try apply(verb, to: task, at: now) else {
                outcome.unchanged.append(
                    VerbOutcome.Unchanged(id: id, state: task.state, reason: Self.refusal(of: verb, task)))
                continue
            }
            outcome.changed.append(id)
            effects.append(Effect(task: id, transfer: task.transferID, action: action, spoolFiles: spoolFiles))
            // A retried task takes its slot again. `supersede` cancels the task that is in the slot now.
            if verb == .retry { effects += try supersede(by: task, at: now) }
            hasEnded = hasEnded || ended
        }
        if hasEnded { try appendIdleIfNothingRuns(at: now) }
        return (outcome, effects)
    }

    private static func refusal(of verb: TaskVerb, _ task: TransferTask) -> VerbOutcome.Reason? {
        switch (verb, task.state) {
        case (.pause, .running) where !RepetitionRules.mayRepeat(task.specification): .notResumable
        case (.retry, .cancelled): .sourceDeleted
        default: nil
        }
    }

    /// Returns the action to perform after the commit, and whether the task ended; nil if the verb does not change the
    /// task.
    private func apply(
        _ verb: TaskVerb, to task: TransferTask, at now: Timestamp
    ) throws -> (TaskAction, hasEnded: Bool)? {
        var machine = TaskStateMachine(task)
        let transition: TaskTransition
        switch verb {
        case .pause:
            if try isPublishing(task) || mayHaveBegun(task) { return nil }
            transition = machine.onPause()
        case .resume:
            // `resume` asks for an attempt now, so it also ends the cooldown of the host.
            if let reason = task.wait?.reason, [.retry, .network, .hostCooldown].contains(reason) {
                try setCooldown(host: task.host, until: nil)
            }
            transition = machine.onResume()
        case .cancel: transition = machine.onCancel(at: now)
        case .retry: transition = machine.onRetry(at: now)
        case .remove: transition = machine.onRemove()
        }
        guard transition.isChange else { return nil }
        if verb == .resume || verb == .retry { try forgetCrashes(of: task.id) }
        func appendEvent() throws {
            if let event = transition.event { try append(event, taskID: task.id, owner: task.owner, at: now) }
        }
        // The event needs the row: it comes after an update and before a deletion.
        switch transition.action {
        case .forget:
            try appendEvent()
            try deleteTask(task.id)
        case .discardBytes, .stopAttemptAndDiscardBytes:
            try releaseReservations(of: task.id)
            if machine.task.state == .cancelled { try abandonUpload(of: task, at: now) }
            try update(machine.task)
            try appendEvent()
        case .none, .schedule, .startAttempt, .stopAttempt:
            try update(machine.task)
            try appendEvent()
        }
        return (transition.action, transition.event?.type.isTerminal == true)
    }

    /// Returns the names of the task's files in the spool directory that are not needed after the verb. For `.cancel`
    /// it also deletes the rows that name them.
    func spoolFiles(
        after verb: TaskVerb, of task: TransferTask
    ) throws -> [String] {
        guard task.specification.kind != .download || task.specification.request.bodySummary != nil else { return [] }
        switch verb {
        case .remove where task.state.isTerminal:
            return try spoolFiles(of: task.id)
        case .cancel where !task.state.isTerminal:
            let names = try spooledSources(of: task.id)
            try removeSpooledSources(of: task.id)
            return names
        case .remove, .cancel, .pause, .resume, .retry:
            return []
        }
    }
}

extension StoreReader {
    /// The task; nil if it does not exist or the caller may not see it.
    func visibleTask(_ id: TaskID, to principal: Principal) throws -> TransferTask? {
        guard let task = try task(id) else { return nil }
        return principal.isOperator || task.owner == principal.owner ? task : nil
    }

    /// Whether a running upload can be neither paused nor resumed.
    ///
    /// That is the case if its first request must not be repeated and the server has not named the upload resource yet:
    /// the request may already have taken effect.
    func mayHaveBegun(_ task: TransferTask) throws -> Bool {
        let specification = task.specification
        guard task.state == .running, specification.kind == .upload,
            specification.upload.uploadProtocol == .resumable, !RepetitionRules.mayRepeatRequest(of: specification),
            let id = task.transferID
        else { return false }
        return try upload(of: id) == nil
    }

    /// Whether the task's publish intent is committed. From then on the task is not stopped.
    func isPublishing(_ task: TransferTask) throws -> Bool {
        guard task.state == .running, let id = task.transferID else { return false }
        return try transfer(id)?.publishIntent != nil
    }
}
