import XferModel
import XferProtocol

/// Tasks that were just added, and the number of the last event before theirs. With a replay from there, `TaskWaiter`
/// need not list tens of thousands of tasks.
struct AddedTasks: Sendable {
    /// The number of the last event before the first of them was added.
    let since: Int64
    /// The tasks in their state when they were added.
    let tasks: [TaskSummary]

    /// - Parameters:
    ///   - answer: the answer to the adds.
    ///   - asked: the tasks of the call, in the same order.
    ///   - since: see `DaemonSession.lastEventNumber`.
    init(_ answer: TaskAdd.Many, _ asked: [NewTask], since: Int64) {
        self.since = since
        let existing = Set(answer.existing)
        tasks = zip(answer.ids, asked).enumerated().compactMap { index, pair in
            // Those that were there already are listed, and so are those that do not begin as queued.
            let (id, task) = pair
            guard !existing.contains(index), task.paused == nil, task.after == nil, task.schedule == .init() else {
                return nil
            }
            return TaskSummary(added: id, task)
        }
    }
}
