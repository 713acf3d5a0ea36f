import XferModel
import XferProtocol

/// Tasks that were just added, and the number of the last event before theirs. With a replay from there, `TaskWaiter`
/// need not list tens of thousands of tasks.
struct AddedTasks: Sendable {
    /// The number of the last event before the first of them was added.
    let since: Int64
    /// The tasks in their state when they were added.
    let tasks: [TaskSummary]
    /// True if one of them may be answered from the cache.
    let mayUseCache: Bool

    /// - Parameters:
    ///   - answer: the answer to the adds.
    ///   - asked: the tasks of the call, in the same order.
    /// - Returns: nil if no call was answered with the number of an event.
    init?(_ answer: TaskAdd.Many, _ asked: [NewTask]) {
        guard let since = answer.seq else { return nil }
        self.since = since
        mayUseCache = asked.contains { $0.choices.cachePolicy.isChange || $0.profile != nil }
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
