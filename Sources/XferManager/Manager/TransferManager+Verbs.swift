import XferCore
import XferCurl
public import XferModel
import XferStore

/// A command over tasks.
public enum TaskVerb: String, Sendable, CaseIterable {
    case pause, resume, cancel, retry, remove
}

/// What a verb over ids came to.
public struct VerbOutcome: Hashable, Sendable {
    public struct Unchanged: Hashable, Sendable {
        public var id: TaskID
        public var state: TaskState
        /// It runs, and what it sends must not be sent twice: it could not go on after a pause.
        public var isNotResumable = false
    }

    public var changed: [TaskID] = []
    /// A wrong state is not an error.
    public var unchanged: [Unchanged] = []
    /// Not there, another user's, or damaged: `task.list` names those.
    public var missing: [TaskID] = []
}

extension VerbOutcome {
    fileprivate var reversed: VerbOutcome {
        VerbOutcome(changed: changed.reversed(), unchanged: unchanged.reversed(), missing: missing.reversed())
    }
}

extension MovePosition {
    fileprivate var target: TaskID? {
        switch self {
        case .before(let id), .after(let id): id
        case .top, .bottom: nil
        }
    }

    fileprivate var isAfter: Bool { if case .after = self { true } else { false } }
}

/// What a verb over a filter came to.
public struct VerbCounts: Hashable, Sendable {
    public var changed = 0
    public var unchanged = 0
}

extension TransferManager {
    /// Applies a verb to these tasks in one transaction.
    public func apply(_ verb: TaskVerb, to ids: [TaskID], for principal: Principal) async throws -> VerbOutcome {
        let now = clock()
        let (outcome, effects) = try await translatingStoreErrors {
            try await store.write(.rows(ids.count)) {
                try Self.apply(verb, to: ids, for: principal, in: $0, at: now)
            }
        }
        await perform(effects)
        return outcome
    }

    /// As above, within a transaction. Answers also what is to be done after its commit.
    static func apply(
        _ verb: TaskVerb, to ids: [TaskID], for principal: Principal, in tx: StoreTransaction, at now: Timestamp
    ) throws -> (VerbOutcome, [Effect]) {
        var outcome = VerbOutcome()
        var effects: [Effect] = []
        var hasEnded = false
        for id in ids {
            guard let task = try StoreError.nilIfUnreadable({ try tx.visibleTask(id, to: principal) }) else {
                outcome.missing.append(id)
                continue
            }
            let spoolFiles = try spoolFiles(after: verb, of: task, in: tx)
            guard let (action, ended) = try apply(verb, to: task, in: tx, at: now) else {
                outcome.unchanged.append(
                    VerbOutcome.Unchanged(
                        id: id, state: task.state,
                        isNotResumable: verb == .pause && task.state == .running
                            && !RepetitionRules.mayRepeat(task.specification)))
                continue
            }
            outcome.changed.append(id)
            effects.append(Effect(task: id, transfer: task.transferID, action: action, spoolFiles: spoolFiles))
            // A task that is tried again is in its slot again, whoever took it meanwhile.
            if verb == .retry { effects += try supersede(by: task, in: tx, at: now) }
            hasEnded = hasEnded || ended
        }
        if hasEnded { try tx.noteIdle(at: now) }
        return (outcome, effects)
    }

    /// Tasks changed in one transaction by whatever works through many, so that others wait a few milliseconds at most for
    /// the next one.
    static let largestStep = 200

    /// Applies a verb to every matching task that exists at the call, step by step; not atomic over all of them.
    public func apply(_ verb: TaskVerb, to filter: TaskQuery, for principal: Principal) async throws -> VerbCounts {
        let filter = filter.restricted(to: principal)
        guard let last = try await store.read({ try $0.maxTaskID() }) else { return VerbCounts() }
        var counts = VerbCounts()
        var after: TaskID?
        while true {
            let ids = try await store.read { [after] in
                try $0.ids(matching: filter, after: after, upTo: last, limit: Self.largestStep)
            }
            guard let newest = ids.last else { return counts }
            let outcome = try await apply(verb, to: ids, for: principal)
            counts.changed += outcome.changed.count
            counts.unchanged += outcome.unchanged.count
            after = newest
        }
    }

    /// What is to be done for a task once its transition is committed.
    struct Effect: Sendable {
        var task: TaskID
        var transfer: TransferID?
        var action: TaskAction
        /// Files of the spool directory that nothing names any more.
        var spoolFiles: [String] = []
    }

    /// The action to run after the commit and whether a run ended; nil when the state cannot obey.
    private static func apply(
        _ verb: TaskVerb, to task: TransferTask, in tx: StoreTransaction, at now: Timestamp
    ) throws -> (TaskAction, hasEnded: Bool)? {
        var machine = TaskStateMachine(task)
        let transition: TaskTransition
        switch verb {
        case .pause:
            if try tx.isPublishing(task) || tx.mayHaveBegun(task) { return nil }
            transition = machine.onPause()
        case .resume:
            // Trying now means now: a host that asked for patience is asked again.
            if let reason = task.wait?.reason, [.retry, .network, .hostCooldown].contains(reason) {
                try tx.setCooldown(host: task.host, until: nil)
            }
            transition = machine.onResume()
        case .cancel: transition = machine.onCancel(at: now)
        case .retry: transition = machine.onRetry(at: now)
        case .remove: transition = machine.onRemove()
        }
        guard transition.isChange else { return nil }
        if verb == .resume || verb == .retry { try tx.forgetCrashes(of: task.id) }
        if let event = transition.event { try tx.append(event, taskID: task.id, owner: task.owner, at: now) }
        switch transition.action {
        case .forget:
            try tx.deleteTask(task.id)
        case .discardBytes, .stopAttemptAndDiscardBytes:
            try tx.releaseReservations(of: task.id)
            if machine.task.state == .cancelled { try tx.abandonUpload(of: task, at: now) }
            try tx.update(machine.task)
        case .none, .schedule, .startAttempt, .stopAttempt:
            try tx.update(machine.task)
        }
        return (transition.action, transition.event?.type.isTerminal == true)
    }

    /// Runs what committed transitions ask for.
    func perform(_ effects: [Effect]) async {
        var orphans: [TransferID] = []
        for effect in effects {
            switch effect.action {
            case .stopAttempt:
                await stopRun(of: effect.task, discarding: nil)
            case .stopAttemptAndDiscardBytes:
                if await !stopRun(of: effect.task, discarding: effect.transfer), let transfer = effect.transfer {
                    orphans.append(transfer)
                }
            case .discardBytes, .forget:
                if let transfer = effect.transfer, !isInUse(effect.task) { orphans.append(transfer) }
            case .none, .schedule, .startAttempt:
                break
            }
        }
        discard(orphans)
        removeSpoolFiles(effects.flatMap(\.spoolFiles))
        if !effects.isEmpty { schedule() }
    }

    /// What the task owns in the spool directory and needs no more after the verb.
    static func spoolFiles(
        after verb: TaskVerb, of task: TransferTask, in tx: StoreTransaction
    ) throws -> [String] {
        guard task.specification.kind != .download || task.specification.request.bodySummary != nil else { return [] }
        switch verb {
        case .remove where task.state.isTerminal:
            return try tx.spoolFiles(of: task.id)
        case .cancel where !task.state.isTerminal:
            let names = try tx.spooledSources(of: task.id)
            try tx.removeSpooledSources(of: task.id)
            return names
        case .remove, .cancel, .pause, .resume, .retry:
            return []
        }
    }

    /// Asks a task's run to stop; a run that was committed but is not launched yet stops when it is. False when there
    /// is neither.
    @discardableResult
    func stopRun(of id: TaskID, discarding transfer: TransferID?) async -> Bool {
        if let live = runs[id] {
            await letOthersJoin(live)
            await stop(live)
            return true
        }
        guard isScheduling else { return false }
        stopsBeforeLaunch[id] = .some(transfer)
        return true
    }

    /// Whether a run still works on the task's bytes: what it leaves behind is discarded when it has ended, because
    /// what is deleted under its hands it would make anew.
    func isInUse(_ id: TaskID) -> Bool { runs[id] != nil || commits[id] != nil || stopsBeforeLaunch[id] != nil }

    // MARK: Order

    /// Moves unfinished tasks within their hosts; together they keep the order of `ids`.
    public func move(_ ids: [TaskID], to position: MovePosition, for principal: Principal) async throws -> VerbOutcome {
        let order = scheduler.limits.order
        // Each goes to the very place, so for these two the last one has to go first.
        let isReversed = position == .top || position.isAfter
        let outcome = try await translatingStoreErrors {
            try await store.write(.rows(ids.count)) { tx in
                var outcome = VerbOutcome()
                if let other = position.target, try tx.visibleTask(other, to: principal) == nil {
                    throw ManagerError.notFound(other)
                }
                for id in isReversed ? ids.reversed() : ids {
                    guard let task = try tx.visibleTask(id, to: principal) else {
                        outcome.missing.append(id)
                        continue
                    }
                    guard !task.state.isTerminal else {
                        outcome.unchanged.append(VerbOutcome.Unchanged(id: id, state: task.state))
                        continue
                    }
                    do {
                        try tx.move(id, to: position, order: order)
                    } catch StoreError.otherLane(let other) {
                        throw ManagerError.invalidState(
                            id, task.state,
                            reason:
                                "task \(other) has another host, group, profile or priority; order is kept within those"
                        )
                    }
                    outcome.changed.append(id)
                }
                return outcome
            }
        }
        schedule()
        return isReversed ? outcome.reversed : outcome
    }
}

extension StoreReader {
    /// The task, unless it is not there or not this caller's to see.
    func visibleTask(_ id: TaskID, to principal: Principal) throws -> TransferTask? {
        guard let task = try task(id) else { return nil }
        return principal.isOperator || task.owner == principal.owner ? task : nil
    }

    /// Whether the task is an upload that may have begun, that the server has not said yet how to continue, and that must
    /// not begin twice: it can be neither held back nor restored.
    func mayHaveBegun(_ task: TransferTask) throws -> Bool {
        let specification = task.specification
        guard task.state == .running, specification.kind == .upload,
            specification.upload.uploadProtocol == .resumable, !RepetitionRules.mayRepeatRequest(of: specification),
            let id = task.transferID
        else { return false }
        return try upload(of: id) == nil
    }

    /// Whether the task has passed the point of no return: its final name is being given.
    func isPublishing(_ task: TransferTask) throws -> Bool {
        guard task.state == .running, let id = task.transferID else { return false }
        return try transfer(id)?.publishIntent != nil
    }
}

extension TaskQuery {
    /// The filter cut down to what the caller may touch.
    func restricted(to principal: Principal) -> TaskQuery {
        guard !principal.isOperator else { return self }
        var copy = self
        copy.owners = owners.map { $0.filter { $0 == principal.owner } } ?? [principal.owner]
        return copy
    }
}
