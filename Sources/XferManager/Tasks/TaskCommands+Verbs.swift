import XferCore
import XferCurl
public import XferModel
public import XferProtocol
import XferStore
import XferSystem

/// A command over tasks.
public enum TaskVerb: String, Sendable, CaseIterable {
    case pause, resume, cancel, retry, remove
}

extension SelectionResult.Listed {
    fileprivate var reversed: Self {
        Self(changed: changed.reversed(), unchanged: unchanged.reversed(), missing: missing.reversed())
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

extension SelectionResult.Counted {
    /// The highest number of refusals with their reasons.
    private static let largestReport = 100

    mutating func refuse(_ id: TaskID, _ failure: RPCFailure) {
        let refusal = SelectionResult.Refusal(id: id, reason: failure.data?.reason ?? "", message: failure.message)
        addRefusals(1, [refusal])
    }

    mutating func add(_ other: Self) {
        changedCount += other.changedCount
        unchangedCount += other.unchangedCount
        if let count = other.refusedCount { addRefusals(count, other.refused ?? []) }
    }

    mutating func add(_ step: SelectionResult.Listed) {
        changedCount += step.changed.count
        unchangedCount += step.unchanged.count
    }

    private mutating func addRefusals(_ count: Int, _ refusals: [SelectionResult.Refusal]) {
        refusedCount = (refusedCount ?? 0) + count
        refused = Array(((refused ?? []) + refusals).prefix(Self.largestReport))
    }
}

extension TaskCommands {
    /// Applies a verb to these tasks in one transaction.
    public func apply(_ verb: TaskVerb, to ids: [TaskID], for principal: Principal) async throws
        -> SelectionResult.Listed
    {
        let now = clock()
        let (outcome, effects) = try await translatingStoreErrors {
            try await store.write(.rows(ids.count)) {
                try $0.apply(verb, to: ids, for: principal, at: now)
            }
        }
        recordDamage(after: verb, outcome)
        await scheduler.perform(effects)
        return outcome
    }

    /// Applies a verb to every matching task that exists at the call, step by step; not atomic over all of them.
    /// Cancelled tasks are retried only if the filter contains their state: a group that is retried does not bring its
    /// cancelled tasks back.
    public func apply(_ verb: TaskVerb, to filter: TaskQuery, for principal: Principal) async throws
        -> SelectionResult.Counted
    {
        try await apply(verb, to: filter, for: principal, in: nil, recording: nil)
    }

    /// Applies a verb to the matching tasks of a span; see `StepRecorder`.
    func apply(
        _ verb: TaskVerb, to filter: TaskQuery, for principal: Principal, in span: TaskSpan?,
        recording record: StepRecorder?
    ) async throws -> SelectionResult.Counted {
        var filter = filter
        if verb == .retry, filter.states == nil { filter.states = TaskState.allCases.filter { $0 != .cancelled } }
        // The filter has to find running tasks as running ones.
        await scheduler.commitAllStarts()
        var counts = SelectionResult.Counted()
        var size = StepSize(largest: StoreTransaction.largestStepAlike)
        try await forEachStep(
            of: filter, for: principal, in: span, atMost: StoreTransaction.largestStepAlike
        ) { ids in
            var rest = ids[...]
            while !rest.isEmpty {
                let (ids, now) = (rest.prefix(size.count), clock())
                let (step, goesOn, duration) = try await translatingStoreErrors {
                    try await store.write(.rows(ids.count)) { tx in
                        let begunAt = Clocks.monotonic()
                        let step = try tx.apply(
                            verb, to: ids, for: principal, atMost: StoreTransaction.largestStep, at: now)
                        var goesOn = true
                        if let record, let reached = ids.prefix(step.count).last {
                            goesOn = try record(tx, FilterStep(reached: reached, step.outcome, at: now))
                        }
                        return (step, goesOn, begunAt.duration(to: Clocks.monotonic()))
                    }
                }
                size.record(step.count, took: duration)
                recordDamage(after: verb, step.outcome)
                await scheduler.perform(step.effects)
                counts.add(step.outcome)
                guard goesOn else { throw FilterStep.Stopped() }
                rest = rest.dropFirst(step.count)
            }
        }
        return counts
    }

    /// Records the tasks whose damaged rows refused the verb, and removes those that it removed.
    func recordDamage(after verb: TaskVerb, _ outcome: SelectionResult.Listed) {
        let reason = SelectionResult.Unchanged.Reason.damaged.rawValue
        context.recordDamage(
            outcome.unchanged.filter { $0.reason == reason }.map(\.id), sound: verb == .remove ? outcome.changed : [])
    }

    // MARK: Order

    /// Moves unfinished tasks within their hosts; together they keep the order of `ids`.
    public func move(_ ids: [TaskID], to position: MovePosition, for principal: Principal) async throws
        -> SelectionResult.Listed
    {
        let order = await scheduler.activity.limits.order
        // Each goes to the very place, so for these two the last one has to go first.
        let isReversed = position == .top || position.isAfter
        let outcome = try await translatingStoreErrors {
            try await store.write(.rows(ids.count)) { tx in
                var outcome = SelectionResult.Listed()
                if let other = position.target {
                    guard let found = try tx.visibleTask(other, to: principal) else {
                        throw ManagerError.notFound(other)
                    }
                    guard !found.state.isTerminal else {
                        throw ManagerError.invalidState(
                            other, found.state, reason: "it has ended and has no place in the queue")
                    }
                }
                for id in isReversed ? ids.reversed() : ids {
                    guard let task = try StoreError.nilIfUnreadable({ try tx.visibleTask(id, to: principal) }) else {
                        outcome.missing.append(id)
                        continue
                    }
                    guard !task.state.isTerminal else {
                        outcome.unchanged.append(SelectionResult.Unchanged(id: id, state: task.state))
                        continue
                    }
                    do {
                        try tx.queue.move(id, to: position, order: order)
                    } catch StoreError.otherLane(let other) {
                        throw ManagerError.invalidState(
                            id, task.state,
                            reason:
                                "task \(other) has another host, group, profile or priority; tasks are ordered only within those"
                        )
                    }
                    outcome.changed.append(id)
                }
                return outcome
            }
        }
        await scheduler.schedule()
        return isReversed ? outcome.reversed : outcome
    }
}

extension ManagerPart {
    /// Passes on the ids of the matching tasks that exist at the call and that the caller may touch, step by step.
    ///
    /// - Parameter span: the tasks that are meant; nil is all that exist at the call.
    func forEachStep(
        of filter: TaskQuery, for principal: Principal, in span: TaskSpan? = nil,
        atMost limit: Int = StoreTransaction.largestStep, isolation: isolated (any Actor)? = #isolation,
        _ body: ([TaskID]) async throws -> Void
    ) async throws {
        let filter = filter.restricted(to: principal)
        let newest: TaskID? = if let span { span.last } else { try await store.read { try $0.tasks.lastID() } }
        guard let last = newest else { return }
        var after = span?.after
        while true {
            let page = try await store.readStates { [after] in
                try $0.tasks.idPage(matching: filter, after: after, upTo: last, limit: limit)
            }
            if !page.ids.isEmpty { try await body(page.ids) }
            guard let reached = page.reached else { return }
            after = reached
        }
    }
}

extension TaskQuery {
    /// The filter, restricted to the caller's rights.
    func restricted(to principal: Principal) -> TaskQuery {
        guard !principal.isOperator else { return self }
        var copy = self
        copy.owners = owners.map { $0.filter { $0 == principal.owner } } ?? [principal.owner]
        return copy
    }
}
