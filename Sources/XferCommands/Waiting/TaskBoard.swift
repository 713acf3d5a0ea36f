import StrictJSON
import XferModel
import XferProtocol

/// The state of the awaited tasks, and the set of those that have ended. It is a value: it gets listings and events,
/// and yields rows.
struct TaskBoard: Sendable {
    /// The ids in the order of the request.
    let ids: [Int64]
    private(set) var tasks: [Int64: TaskSummary] = [:]
    /// The tasks that have ended or were removed.
    private var ended: Set<Int64> = []
    private let members: Set<Int64>

    init(ids: [Int64]) {
        var seen: Set<Int64> = []
        self.ids = ids.filter { seen.insert($0).inserted }
        members = seen
    }

    /// True if there is nothing left to wait for.
    var isFinished: Bool { ended.count == ids.count }

    var unfinished: [Int64] { ids.filter { !ended.contains($0) } }

    /// The exit status for all tasks: `taskFailed` unless all have ended well.
    var status: ExitStatus {
        ids.allSatisfy { tasks[$0].map(Self.isGood) ?? false } ? .done : .taskFailed
    }

    /// Applies the listed state of a task.
    /// - Returns: the task when this is the first report of its end.
    mutating func onListed(_ glance: TaskSummary) -> TaskSummary? {
        guard members.contains(glance.id) else { return nil }
        tasks[glance.id] = glance
        return insertEnded(glance)
    }

    /// Ends a complete listing.
    /// - Returns: ids that never existed or were removed, each returned once.
    mutating func onListingEnd(present: Set<Int64>) -> [Int64] {
        let gone = ids.filter { !present.contains($0) && !ended.contains($0) }
        ended.formUnion(gone)
        for id in gone { tasks[id] = nil }
        return gone
    }

    /// Applies an event.
    ///
    /// - Returns: the task when the event is the first report of its end.
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

    /// True for a good end. Staged tasks have all their bytes: the remaining step is the client's.
    private static func isGood(_ task: TaskSummary) -> Bool {
        task.state == TaskState.completed.rawValue || task.isStaged
    }
}
