import XferCore
import XferModel
import XferProtocol
import XferStore

/// Verbs over many tasks with equal decisions, as nearly all are if a filter selects a million: one statement for
/// hundreds of them instead of several for each.
///
/// The state machine decides about the first of them. `isDecidedByState` determines for which tasks the decision is the
/// same: those of which only the rows, the counts and the events change.
extension StoreTransaction {
    /// The highest number of tasks that one transaction changes alike; see `largestStep`.
    static var largestStepAlike: Int { 1000 }

    /// The smallest number of tasks for which outlines are read; for fewer they cost more than they save.
    private static var fewest: Int { 8 }

    /// The outlines of the tasks among these that `apply(_:toAlike:for:_:at:)` can change.
    func tasksAlike(
        for verb: TaskVerb, among ids: ArraySlice<TaskID>, _ principal: Principal
    ) throws(StoreError) -> [TaskID: TaskOutline] {
        guard ids.count >= Self.fewest, verb != .retry else { return [:] }
        let ids = Array(ids)
        let alike = try tasks.outlines(of: ids).filter { _, task in
            (principal.isOperator || task.owner == principal.owner) && verb.isDecidedByState(of: task)
        }
        guard verb == .cancel, !alike.isEmpty else { return alike }
        let tied = try tasks.tied(among: ids)
        return tied.isEmpty ? alike : alike.filter { !tied.contains($0.key) }
    }

    /// Applies a verb to tasks of one state, in order, and empties `tasks`.
    func apply(
        _ verb: TaskVerb, toAlike tasks: inout [TaskOutline], for principal: Principal, _ step: inout VerbStep,
        at now: Timestamp
    ) throws {
        guard let outline = tasks.first else { return }
        defer { tasks = [] }
        guard let first = try StoreError.nilIfUnreadable({ try self.tasks.find(outline.id) }) else {
            // What the outline does not show is damaged: the others may be sound.
            for task in tasks { try apply(verb, to: task.id, for: principal, &step, at: now) }
            return
        }
        var machine = TaskStateMachine(first)
        let transition = machine.onVerb(verb, at: now)
        guard let event = transition.event else {
            step.outcome.unchanged += tasks.map { SelectionResult.Unchanged(id: $0.id, state: $0.state) }
            return
        }
        let events = tasks.map { NewEvent(event.payload(for: $0), taskID: $0.id, owner: $0.owner) }
        if verb == .resume { try crashes.remove(of: tasks) }
        // Events need the rows: they come after an update and before a deletion.
        if case .forget = transition.action {
            try self.events.append(events, at: now)
            try self.tasks.delete(tasks)
        } else {
            try self.tasks.move(tasks, to: machine.task.state, finishedAt: machine.task.finishedAt)
            try self.events.append(events, at: now)
        }
        step.outcome.changed += tasks.map(\.id)
        // Nothing is to be done for each of them, but a pass may start others.
        step.effects.append(Effect(task: outline.id, transfer: nil, action: .schedule))
        step.hasEnded = step.hasEnded || event.type.isTerminal
    }
}

extension TaskVerb {
    /// True if the verb does the same to this task as to any other one of its state, and needs nothing beside its row.
    fileprivate func isDecidedByState(of task: TaskOutline) -> Bool {
        switch (self, task.state) {
        case (.pause, .queued), (.pause, .waiting):
            true
        case (.resume, .paused):
            !task.hasBegun && !task.hasConditions
        case (.cancel, .queued), (.cancel, .waiting), (.cancel, .paused):
            task.needsOnlyRow && !task.hasConditions && !task.hasCompletion
        case (.remove, .completed), (.remove, .cancelled):
            task.needsOnlyRow
        case (.remove, .failed):
            task.needsOnlyRow && task.batchID == nil
        default:
            false
        }
    }
}

extension TaskOutline {
    /// True if the task keeps no bytes, uploads or content elsewhere.
    fileprivate var needsOnlyRow: Bool { kind == .download && !hasTransfer && !hasContent }
}

extension EventPayload {
    /// The event of another task with the same decision.
    fileprivate func payload(for task: TaskOutline) -> EventPayload {
        if case .taskPaused = self { .taskPaused(received: task.received) } else { self }
    }
}
