import XferCore
import XferModel
import XferStore

extension TaskRun {
    /// Commits a change of this run together with the pending events, if the task still belongs to this run. The events
    /// of a task that has ended meanwhile are not appended; what clean-up has to know is still written.
    ///
    /// - Throws: `Overtaken`, `StoreError`, and the errors of `change`.
    func commit<Answer: Sendable>(
        _ urgency: Urgency,
        _ change: @escaping @Sendable (StoreTransaction, inout TaskStateMachine) throws -> Answer
    ) async throws -> Answer {
        let id = taskID
        let transferID = transfer.id
        let events = pendingEvents
        let facts = outcome
        let now = services.clock()
        pendingEvents = []
        return try await services.store.write(urgency) { tx in
            guard let task = try tx.task(id), task.transferID == transferID else { throw Overtaken() }
            if !task.state.isTerminal {
                for event in events { try tx.append(event, taskID: id, owner: task.owner, at: now) }
            }
            var machine = TaskStateMachine(task)
            machine.setOutcome { $0 = facts }
            let answer = try change(tx, &machine)
            try tx.update(machine.task, from: task)
            return answer
        }
    }
}
