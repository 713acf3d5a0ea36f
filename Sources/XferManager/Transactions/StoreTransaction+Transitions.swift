import XferCore
import XferModel
import XferStore

/// Writes the decisions of a task's state machine. Every change of a task's state goes through here, so that no row
/// changes without its event.
extension StoreTransaction {
    /// The highest number of tasks that one transaction changes where many are worked through, so that other commits
    /// wait a few milliseconds at most.
    static var largestStep: Int { 200 }

    /// Decides about a task that was read in this transaction, and writes the decision.
    @discardableResult
    func transition(
        _ task: TransferTask, at now: Timestamp, _ decide: (inout TaskStateMachine) -> TaskTransition
    ) throws(StoreError) -> TaskTransition {
        var machine = TaskStateMachine(task)
        let transition = decide(&machine)
        if transition.isChange { try write(machine, transition, at: now) }
        return transition
    }

    /// Writes the machine's task with all its changes, and the transition's event if it has one.
    ///
    /// - Parameter former: the present row, if the caller knows it; it saves a read.
    func write(
        _ machine: TaskStateMachine, _ transition: TaskTransition?, from former: TransferTask? = nil, at now: Timestamp
    ) throws(StoreError) {
        let task = machine.task
        if let former { try tasks.update(task, from: former) } else { try tasks.update(task) }
        if let event = transition?.event { try events.append(event, taskID: task.id, owner: task.owner, at: now) }
    }

    /// Records that a task no longer has bytes, with an event that contains the reason. The caller writes the machine's
    /// task.
    func discardBytes(
        of machine: inout TaskStateMachine, because reason: String, at now: Timestamp
    ) throws(StoreError) {
        guard let event = machine.onBytesDiscarded(reason: reason).event else { return }
        try events.append(event, taskID: machine.task.id, owner: machine.task.owner, at: now)
    }

    /// Completes batches, then appends `queue.idle` if no task can run.
    func appendIdleIfNothingRuns(at now: Timestamp) throws(StoreError) {
        try batches.completeFinished()
        guard try !tasks.hasAny(in: [.queued, .running, .waiting]) else { return }
        let counts = try self.counts.byState()
        try events.append(.queueIdle(completed: counts[.completed] ?? 0, failed: counts[.failed] ?? 0), at: now)
    }
}
