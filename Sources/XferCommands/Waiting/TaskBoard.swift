import StrictJSON
import XferModel
import XferProtocol

/// What is known of the tasks that are waited for, and which of them have ended. A value: fed with listings and
/// events, asked for rows.
struct TaskBoard: Sendable {
    /// In the order they were asked for.
    let ids: [Int64]
    private(set) var tasks: [Int64: TaskSummary] = [:]
    /// Those that have ended, or are gone.
    private var ended: Set<Int64> = []
    private let members: Set<Int64>

    init(ids: [Int64]) {
        var seen: Set<Int64> = []
        self.ids = ids.filter { seen.insert($0).inserted }
        members = seen
    }

    /// Nothing is to be waited for any more.
    var isFinished: Bool { ended.count == ids.count }

    var unfinished: [Int64] { ids.filter { !ended.contains($0) } }

    /// The worst that happened to any of them.
    var status: ExitStatus {
        ids.allSatisfy { tasks[$0].map(Self.isGood) ?? false } ? .done : .taskFailed
    }

    /// Takes a task as it is listed now.
    /// - Returns: the task when this is the first news of its end.
    mutating func onListed(_ glance: TaskSummary) -> TaskSummary? {
        guard members.contains(glance.id) else { return nil }
        tasks[glance.id] = glance
        return insertEnded(glance)
    }

    /// Takes a complete listing of those that exist.
    /// - Returns: ids that were never seen or are gone now, each told once.
    mutating func onListingEnd(present: Set<Int64>) -> [Int64] {
        let gone = ids.filter { !present.contains($0) && !ended.contains($0) }
        ended.formUnion(gone)
        for id in gone { tasks[id] = nil }
        return gone
    }

    /// - Returns: the task when the event is the first news of its end.
    mutating func onEvent(_ event: EventMessage) -> TaskSummary? {
        guard let id = event.taskID?.rawValue, var task = tasks[id], !ended.contains(id) else { return nil }
        task.apply(event)
        tasks[id] = task
        return insertEnded(task)
    }

    /// The rows to draw: running tasks first, then the others that have not ended.
    func rows(limit: Int) -> [TaskSummary] {
        let open = ids.lazy.filter { !ended.contains($0) }.compactMap { tasks[$0] }
        let running = Array(open.filter(\.isRunning).prefix(limit))
        return running + open.filter { !$0.isRunning }.prefix(limit - running.count)
    }

    private mutating func insertEnded(_ task: TaskSummary) -> TaskSummary? {
        task.isTerminal || task.isStaged ? (ended.insert(task.id).inserted ? task : nil) : nil
    }

    /// Staged tasks have all their bytes: what is left to do is the client's.
    private static func isGood(_ task: TaskSummary) -> Bool {
        task.state == TaskState.completed.rawValue || task.isStaged
    }
}
