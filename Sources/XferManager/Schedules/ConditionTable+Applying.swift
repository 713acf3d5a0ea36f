import Logging
import XferCore
import XferModel
import XferStore

/// The start conditions of tasks: the calendar, and other tasks that must complete first.
///
/// A task's conditions are evaluated when the task is added, changed or returned to the queue, when its stored due time
/// has come, and before it starts.
extension ConditionTable where Store == StoreTransaction {
    /// Puts a task into the state that its conditions demand, and writes the task with its event. Returns an `Effect`
    /// if its run has to stop.
    ///
    /// - Parameter machine: the task. Its unwritten changes are written only if the conditions change its state.
    @discardableResult
    func apply(
        to machine: inout TaskStateMachine, _ inputs: ConditionInputs, at now: Timestamp
    ) throws -> Effect? {
        let task = machine.task
        let schedule = task.specification.schedule
        guard !task.state.isTerminal else { return nil }
        // If the service may have crashed because of a task, its conditions are not evaluated until a client resumes
        // it: the evaluation itself may cause the crash.
        guard task.state != .staged, task.wait?.reason != .suspect else {
            try set(of: task.id, due: nil)
            return nil
        }
        let conditions = inputs.conditions(of: schedule, at: now)
        let verdict = conditions.verdict(try dependencyState(of: task), at: now)
        let transition: TaskTransition
        let due: Timestamp?
        switch verdict {
        case .open(let until):
            transition = machine.onConditionsMet()
            due = until
        case .closed(let wait, let again):
            // A task that is being published, or whose upload must not begin again, continues to its end.
            let goesOn = try store.isPublishing(task) || store.mayHaveBegun(task)
            transition = goesOn ? .unchanged : machine.onBlocked(wait)
            due = again
        case .failed(let error):
            guard try !store.isPublishing(task) else {
                try set(of: task.id, due: now.advanced(by: .seconds(1)))
                return nil
            }
            transition = machine.onConditionsFailed(error, at: now)
            due = nil
            try store.reservations.release(of: task.id)
        }
        if transition.isChange {
            try store.write(machine, transition, at: now)
            if machine.task.state.isTerminal { try store.appendIdleIfNothingRuns(at: now) }
        }
        if !machine.task.state.isTerminal { try set(of: task.id, due: due) }
        guard transition.action == .stopAttempt else { return nil }
        return Effect(task: task.id, transfer: task.transferID, action: .stopAttempt)
    }

    /// True if a picked task may start. If not, its new state, waiting or failed, is written.
    func mayStart(_ task: TransferTask, _ inputs: ConditionInputs, at now: Timestamp) throws -> Bool {
        guard !task.specification.schedule.isEmpty else { return true }
        var machine = TaskStateMachine(task)
        try apply(to: &machine, inputs, at: now)
        return machine.task.state == .queued
    }

    /// Evaluates the conditions of these tasks. Returns the effects to perform after the commit.
    func apply(
        to tasks: [TransferTask], _ inputs: ConditionInputs, _ inFlight: InFlightTasks, at now: Timestamp
    ) throws -> [Effect] {
        try tasks.compactMap { task in
            var machine = TaskStateMachine(task)
            return try inFlight.during(task.id) { try apply(to: &machine, inputs, at: now) }
        }
    }
}

extension ConditionTable {
    /// Returns the state of the tasks that must complete before this one starts; `.met` for a running task.
    fileprivate func dependencyState(of task: TransferTask) throws -> StartConditions.Dependencies {
        guard task.specification.schedule.hasTargets, task.state != .running else { return .met }
        let found = try store.dependencies.state(of: task.id)
        if let failed = found.failed { return .failed(failed.id, failed.outcome) }
        return found.openCount == 0 ? .met : .open
    }
}
