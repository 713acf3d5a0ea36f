import XferCore
import XferModel
import XferProtocol
import XferStore

/// Verbs over tasks.
extension StoreTransaction {
    /// Applies a verb to these tasks. Also returns the effects to perform after the commit.
    func apply(
        _ verb: TaskVerb, to ids: [TaskID], for principal: Principal, at now: Timestamp
    ) throws -> (SelectionResult.Listed, [Effect]) {
        let step = try apply(verb, to: ids[...], for: principal, atMost: .max, at: now)
        return (step.outcome, step.effects)
    }

    /// Applies a verb until `limit` tasks were decided one by one; `VerbStep.count` is the number of ids that were
    /// processed.
    func apply(
        _ verb: TaskVerb, to ids: ArraySlice<TaskID>, for principal: Principal, atMost limit: Int, at now: Timestamp
    ) throws -> VerbStep {
        var step = VerbStep()
        var alike = try tasksAlike(for: verb, among: ids, principal)
        var run: [TaskOutline] = []
        var singles = 0
        for id in ids {
            // Taken out: an id that is given twice is decided about by itself the second time.
            if let outline = alike.removeValue(forKey: id) {
                if let last = run.last, last.state != outline.state {
                    try apply(verb, toAlike: &run, for: principal, &step, at: now)
                }
                run.append(outline)
            } else {
                guard singles < limit else { break }
                singles += 1
                try apply(verb, toAlike: &run, for: principal, &step, at: now)
                try apply(verb, to: id, for: principal, &step, at: now)
            }
            step.count += 1
        }
        try apply(verb, toAlike: &run, for: principal, &step, at: now)
        if step.hasEnded { try appendIdleIfNothingRuns(at: now) }
        return step
    }

    /// Applies a verb to one task.
    func apply(
        _ verb: TaskVerb, to id: TaskID, for principal: Principal, _ step: inout VerbStep, at now: Timestamp
    ) throws {
        guard let task = try StoreError.nilIfUnreadable({ try visibleTask(id, to: principal) }) else {
            guard let damaged = try tasks.findDamaged(id), principal.isOperator || damaged.owner == principal.owner
            else {
                step.outcome.missing.append(id)
                return
            }
            try apply(verb, to: damaged, &step, at: now)
            return
        }
        let spoolFiles = try spoolFiles(after: verb, of: task)
        guard let applied = try apply(verb, to: task, for: principal, at: now) else {
            step.outcome.unchanged.append(
                SelectionResult.Unchanged(id: id, state: task.state, reason: Self.refusal(of: verb, task)))
            return
        }
        step.outcome.changed.append(id)
        step.effects.append(
            Effect(
                task: id, transfer: task.transferID, action: applied.action, spoolFiles: spoolFiles,
                ignoresCooldown: applied.ignoresCooldown))
        // A retried task takes its slot again. `supersede` cancels the task that is in the slot now.
        if verb == .retry { step.effects += try supersede(by: task, at: now) }
        step.hasEnded = step.hasEnded || applied.hasEnded
    }

    /// Cancels or removes a task whose row is damaged. The other verbs need the whole row.
    private func apply(_ verb: TaskVerb, to task: DamagedTask, _ step: inout VerbStep, at now: Timestamp) throws {
        var effect = Effect(task: task.id, transfer: task.transferID, action: .none)
        switch (verb, task.state.isTerminal) {
        case (.cancel, false):
            effect.spoolFiles = try spool.sources(of: task.id)
            try spool.removeSources(of: task.id)
            try tasks.cancel(task, at: now)
            try events.append(.taskCancelled, taskID: task.id, owner: task.owner, at: now)
            effect.action = task.state == .running ? .stopAttemptAndDiscardBytes : .discardBytes
            step.hasEnded = true
        case (.remove, true):
            effect.spoolFiles = try StoreError.nilIfUnreadable { try spool.files(of: task.id) } ?? []
            // The event needs the row.
            try events.append(.taskRemoved, taskID: task.id, owner: task.owner, at: now)
            try tasks.delete(task.id)
            effect.action = .forget
        default:
            step.outcome.unchanged.append(
                SelectionResult.Unchanged(id: task.id, state: task.state, reason: .damaged))
            return
        }
        step.outcome.changed.append(task.id)
        step.effects.append(effect)
    }

    private static func refusal(of verb: TaskVerb, _ task: TransferTask) -> SelectionResult.Unchanged.Reason? {
        switch (verb, task.state) {
        case (.pause, .running) where !RepetitionRules.mayRepeat(task.specification): .notResumable
        case (.retry, .cancelled): .sourceDeleted
        default: nil
        }
    }

    /// Returns the action to perform after the commit, whether the task ended, and whether it starts although its host
    /// cools down; nil if the verb does not change the task.
    private func apply(
        _ verb: TaskVerb, to task: TransferTask, for principal: Principal, at now: Timestamp
    ) throws -> (action: TaskAction, hasEnded: Bool, ignoresCooldown: Bool)? {
        if try verb == .pause && (isPublishing(task) || mayHaveBegun(task)) { return nil }
        var machine = TaskStateMachine(task)
        let transition = machine.onVerb(verb, at: now)
        // `resume` asks for an attempt now. A queued task may wait for nothing but the cooldown of its host.
        let retriesNow = verb == .resume && (transition.isChange && task.state == .waiting || task.state == .queued)
        let stillCools = retriesNow ? try cooldowns.lift(for: task, by: principal, at: now) : nil
        guard transition.isChange else { return stillCools.map { (.schedule, false, $0) } }
        if verb == .resume || verb == .retry { try crashes.remove(of: task.id) }
        func appendEvent() throws {
            if let event = transition.event { try events.append(event, taskID: task.id, owner: task.owner, at: now) }
        }
        // The event needs the row: it comes after an update and before a deletion.
        switch transition.action {
        case .forget:
            try appendEvent()
            try tasks.delete(task.id)
        case .discardBytes, .stopAttemptAndDiscardBytes:
            try reservations.release(of: task.id)
            if machine.task.state == .cancelled { try abandonedUploads.add(of: task, at: now) }
            try tasks.update(machine.task)
            try appendEvent()
        case .none, .schedule, .startAttempt, .stopAttempt:
            try tasks.update(machine.task)
            try appendEvent()
        }
        return (transition.action, transition.event?.type.isTerminal == true, stillCools == true)
    }

    /// Returns the names of the task's files in the spool directory that are not needed after the verb. For `.cancel`
    /// it also deletes the rows that refer to them.
    func spoolFiles(
        after verb: TaskVerb, of task: TransferTask
    ) throws -> [String] {
        guard task.specification.kind != .download || task.specification.request.bodySummary != nil else { return [] }
        switch verb {
        case .remove where task.state.isTerminal:
            return try spool.files(of: task.id)
        case .cancel where !task.state.isTerminal:
            let names = try spool.sources(of: task.id)
            try spool.removeSources(of: task.id)
            return names
        case .remove, .cancel, .pause, .resume, .retry:
            return []
        }
    }
}

/// The result of applying a verb so far.
struct VerbStep {
    var outcome = SelectionResult.Listed()
    /// The effects to perform after the commit.
    var effects: [Effect] = []
    var hasEnded = false
    /// The number of ids that were processed.
    var count = 0
}

extension TaskStateMachine {
    mutating func onVerb(_ verb: TaskVerb, at now: Timestamp) -> TaskTransition {
        switch verb {
        case .pause: onPause()
        case .resume: onResume()
        case .cancel: onCancel(at: now)
        case .retry: onRetry(at: now)
        case .remove: onRemove()
        }
    }
}

extension StoreReader {
    /// The task; nil if it does not exist or the caller may not see it.
    func visibleTask(_ id: TaskID, to principal: Principal) throws -> TransferTask? {
        guard let task = try tasks.find(id) else { return nil }
        return principal.isOperator || task.owner == principal.owner ? task : nil
    }

    /// True if a running upload can be neither paused nor resumed.
    ///
    /// That is the case if its first request must not be repeated and the server has not sent the URL of the upload
    /// resource yet: the request may already have taken effect.
    func mayHaveBegun(_ task: TransferTask) throws -> Bool {
        let specification = task.specification
        guard task.state == .running, specification.kind == .upload,
            specification.upload.uploadProtocol == .resumable, !RepetitionRules.mayRepeatRequest(of: specification),
            let id = task.transferID
        else { return false }
        // What cannot be read counts as begun: the request must not be sent twice.
        return try StoreError.nilIfUnreadable { try transfers.upload(of: id) } == nil
    }

    /// True if the task's publish intent is committed. From then on the task is not stopped.
    func isPublishing(_ task: TransferTask) throws -> Bool {
        guard task.state == .running, let id = task.transferID else { return false }
        return try transfers.find(id)?.publishIntent != nil
    }
}
