import XferModel
import XferProtocol

/// What is known of the tasks that are waited for, and which of them have ended. A value: fed with listings and
/// events, asked for lines.
struct TaskBoard: Sendable {
    /// In the order they were asked for.
    let ids: [Int64]
    private(set) var tasks: [Int64: TaskGlance] = [:]
    /// Those whose end was reported already.
    private var reported: Set<Int64> = []

    init(ids: [Int64]) { self.ids = ids }

    /// Ended or gone: nothing is to be waited for any more.
    var isFinished: Bool { reported.count == ids.count }

    /// The worst that happened to any of them.
    var status: ExitStatus {
        ids.allSatisfy { tasks[$0]?.state == TaskState.completed.rawValue } ? .done : .taskFailed
    }

    var unfinished: [Int64] { ids.filter { !reported.contains($0) } }

    /// Takes a task as listed now.
    /// - Returns: the task when this is the first news of its end.
    mutating func onListed(_ glance: TaskGlance) -> TaskGlance? {
        guard ids.contains(glance.id) || tasks[glance.id] != nil else { return nil }
        tasks[glance.id] = glance
        return glance.isTerminal && reported.insert(glance.id).inserted ? glance : nil
    }

    /// A task that is not there any more: removed, or never there.
    /// - Returns: whether this is news.
    mutating func onMissing(_ id: Int64) -> Bool {
        guard reported.insert(id).inserted else { return false }
        return true
    }

    mutating func onProgress(_ id: Int64, _ progress: ProgressRecord) {
        guard var task = tasks[id], !reported.contains(id) else { return }
        task.state = TaskState.running.rawValue
        task.waitReason = nil
        task.take(progress)
        tasks[id] = task
    }

    /// The rows to draw: running tasks first, then what may start next; ended ones have scrolled away.
    func rows(limit: Int) -> [TaskGlance] {
        let open = ids.lazy.filter { !reported.contains($0) }.compactMap { tasks[$0] }
        let running = open.filter(\.isRunning).prefix(limit)
        let others = open.filter { !$0.isRunning }.prefix(limit - running.count)
        return Array(running) + Array(others)
    }
}
