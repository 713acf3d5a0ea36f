import XferCore
import XferModel
import XferStore

extension TaskRun {
    /// Commits a change of this run together with the events that wait, if the task is still this run's. Of a task that was
    /// cancelled meanwhile the end has been told, and nothing more is: what has to be known to clear up is still written.
    ///
    /// - Throws: `Overtaken`, `StoreError`, what `change` throws.
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
            machine.note { $0 = facts }
            let answer = try change(tx, &machine)
            try tx.update(machine.task, from: task)
            return answer
        }
    }
}
