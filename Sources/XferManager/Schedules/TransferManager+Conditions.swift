import Logging
import XferCore
import XferModel
import XferStore

/// The conditions of tasks: the calendar, and other tasks.
///
/// They are evaluated when a task is added or changed, when it returns to the queue, when they are due, and before it
/// starts.
extension TransferManager {
    /// The highest number of tasks evaluated in one transaction.
    static let conditionStep = 200

    /// Puts a task into the state that its conditions demand and commits it with its event. Returns an `Effect` if its
    /// run has to stop.
    ///
    /// - Parameter machine: may hold changes that are not written yet; they are written, too.
    @discardableResult
    static func applyConditions(
        to machine: inout TaskStateMachine, _ zones: TimeZones, in tx: StoreTransaction, at now: Timestamp
    ) throws -> Effect? {
        let task = machine.task
        let schedule = task.specification.schedule
        guard !task.state.isTerminal else { return nil }
        // A suspect's conditions are not evaluated before a client resumes the task: the evaluation may be what
        // crashes.
        guard task.state != .staged, task.wait?.reason != .suspect else {
            try tx.setCondition(of: task.id, due: nil)
            return nil
        }
        let conditions = StartConditions(schedule, zone: zones.rules(for: schedule))
        let verdict = conditions.verdict(try tx.standing(of: task), at: now)
        let transition: TaskTransition
        let due: Timestamp?
        switch verdict {
        case .open(let until):
            transition = machine.onConditionsMet()
            due = until
        case .closed(let wait, let again):
            // A task that is being published, or that could not begin again, continues to its end.
            let goesOn = try tx.isPublishing(task) || tx.mayHaveBegun(task)
            transition = goesOn ? .unchanged : machine.onHold(wait)
            due = again
        case .failed(let error):
            guard try !tx.isPublishing(task) else {
                try tx.setCondition(of: task.id, due: now.advanced(by: .seconds(1)))
                return nil
            }
            transition = machine.onConditionsFailed(error, at: now)
            due = nil
            try tx.releaseReservations(of: task.id)
        }
        if transition.isChange {
            try tx.update(machine.task)
            if let event = transition.event { try tx.append(event, taskID: task.id, owner: task.owner, at: now) }
            if machine.task.state.isTerminal { try tx.noteIdle(at: now) }
        }
        if !machine.task.state.isTerminal { try tx.setCondition(of: task.id, due: due) }
        guard transition.action == .stopAttempt else { return nil }
        return Effect(task: task.id, transfer: task.transferID, action: .stopAttempt)
    }

    /// Whether a picked task may start. Otherwise it has been made to wait, or has ended.
    static func mayStart(
        _ task: TransferTask, _ zones: TimeZones, in tx: StoreTransaction, at now: Timestamp
    ) throws -> Bool {
        guard !task.specification.schedule.isEmpty else { return true }
        var machine = TaskStateMachine(task)
        try applyConditions(to: &machine, zones, in: tx, at: now)
        return machine.task.state == .queued
    }

    /// Evaluates due conditions and notifies dependents of ended tasks, one step of each. The timer fires again at once
    /// for the rest.
    func settleConditions() async throws {
        let now = clock()
        let (zones, inFlight) = (zones, inFlight)
        let effects = try await store.write(.bulky) { tx in
            var effects: [Effect] = []
            for task in try tx.dueConditions(now: now, limit: Self.conditionStep) {
                var machine = TaskStateMachine(task)
                let effect = try inFlight.during(task.id) {
                    try Self.applyConditions(to: &machine, zones, in: tx, at: now)
                }
                if let effect { effects.append(effect) }
            }
            try Self.tellDependents(zones, in: tx, at: now)
            return effects
        }
        await perform(effects)
    }

    /// As `recomputeConditions`. An error is logged, and the conditions are evaluated when they are due.
    func lookAtConditionsAgain() async {
        do {
            try await recomputeConditions()
        } catch {
            logger.report("computing the conditions anew failed", error)
            schedule()
        }
    }

    /// Evaluates every calendar condition again: the wall clock was set, or zones may have changed.
    public func recomputeConditions() async throws {
        zones.lookAgain()
        let (zones, inFlight) = (zones, inFlight)
        var after: TaskID?
        while true {
            let now = clock()
            let (last, effects) = try await store.write(.bulky) { [after] tx -> (TaskID?, [Effect]) in
                let tasks = try tx.tasksWithConditions(after: after, limit: Self.conditionStep)
                var effects: [Effect] = []
                for task in tasks {
                    var machine = TaskStateMachine(task)
                    let effect = try inFlight.during(task.id) {
                        try Self.applyConditions(to: &machine, zones, in: tx, at: now)
                    }
                    if let effect { effects.append(effect) }
                }
                return (tasks.last?.id, effects)
            }
            await perform(effects)
            guard let last else { break }
            after = last
        }
        schedule()
    }
}

extension StoreReader {
    /// The states of the tasks that must complete before this one starts.
    fileprivate func standing(of task: TransferTask) throws -> StartConditions.Dependencies {
        guard !task.specification.schedule.after.isEmpty, task.state != .running else { return .met }
        let standing = try dependencies(of: task.id)
        if let failed = standing.failed { return .failed(failed.id, failed.outcome) }
        return standing.openCount == 0 ? .met : .open
    }
}
