import Glibc
import XferModel
import XferProtocol

/// The stages of a task's life in the order in which people look for them.
enum TaskStage: Int, CaseIterable {
    case running, waiting, stopped, queued, ended

    var states: [TaskState] {
        switch self {
        case .running: [.running]
        case .waiting: [.waiting]
        case .stopped: [.paused, .staged]
        case .queued: [.queued]
        case .ended: [.completed, .failed, .cancelled]
        }
    }

    /// The stage of a state. A state that this program does not know has the first one, so that it is seen.
    init(_ state: TaskState?) {
        self = Self.allCases.first { stage in state.map(stage.states.contains) ?? true } ?? .running
    }

    /// True if one task is listed before another; by stage alone.
    static func comesFirst(_ one: TaskRecord, _ other: TaskRecord) -> Bool {
        let (first, second) = (TaskStage(one.state?.value).rawValue, TaskStage(other.state?.value).rawValue)
        return first == second ? one.id.rawValue > other.id.rawValue : first < second
    }
}

/// Collects tasks stage by stage, as many as are shown.
struct TaskStages {
    private(set) var records: [TaskRecord] = []
    /// Tasks that the daemon left out because their rows are damaged.
    private(set) var damaged: [TaskID] = []
    /// True if there are more than are shown.
    private(set) var isCut = false
    private let limit: Int
    /// Tasks that ended before this moment are hidden; nil hides none.
    private let oldest: Timestamp?
    private var seen: Set<TaskID> = []
    /// The number of ended tasks that were collected.
    private var endedCount: Int64 = 0
    private var hasHidden = false

    /// The highest number of ended tasks that are searched for those of today.
    private static let longestPast = 1000

    init(limit: Int, hidesOld: Bool, now: Timestamp = .now) {
        self.limit = limit
        oldest = hidesOld ? Self.midnight(before: now) : nil
    }

    /// The beginning of the reader's day.
    static func midnight(before now: Timestamp) -> Timestamp {
        var seconds = time_t(clamping: now.rawValue / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return now }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
        let start = mktime(&parts)
        return start < 0 ? now : Timestamp(seconds: Int64(clamping: start))
    }

    /// Reads tasks from the daemon until enough are collected.
    ///
    /// - Parameter params: filter and fields; order, limit and cursor are set here.
    mutating func collect(_ params: TaskList.Params, _ daemon: DaemonSession) throws(CommandFailure) {
        for stage in TaskStage.allCases {
            let wanted = params.filter?.state?.values ?? TaskState.allCases
            let states = stage.states.filter(wanted.contains)
            guard !states.isEmpty else { continue }
            var query = params
            var filter = params.filter ?? TaskFilter()
            if filter.all == true { filter = TaskFilter() }
            filter.state = OneOrMany(states)
            query.filter = filter
            query.order = stage == .queued ? .queue : .descending
            try collect(stage, &query, daemon)
            if isCut { return }
        }
    }

    private mutating func collect(
        _ stage: TaskStage, _ query: inout TaskList.Params, _ daemon: DaemonSession
    ) throws(CommandFailure) {
        var examined = 0
        query.cursor = nil
        repeat {
            let room = limit - records.count
            query.limit = min(max(1, room), TaskPages.largest)
            let page = try Self.page(&query, daemon)
            damaged += (page.unreadable ?? []).filter { !damaged.contains($0) }
            let fresh = page.tasks.filter { !seen.contains($0.id) }
            guard room > 0 else {
                // One more is requested, to know whether there is one.
                isCut = fresh.contains { !isHidden($0, stage) }
                hasHidden = hasHidden || fresh.contains { isHidden($0, stage) }
                return
            }
            for task in fresh { add(task, stage) }
            examined += page.tasks.count
            query.cursor = page.nextCursor
            if stage == .ended, oldest != nil, examined >= Self.longestPast, query.cursor != nil {
                hasHidden = true
                return
            }
        } while query.cursor != nil && records.count < limit
        isCut = query.cursor != nil && records.count >= limit
    }

    /// Requests one page. A fleet has no order over the queues of its nodes: there the oldest come first.
    private static func page(
        _ query: inout TaskList.Params, _ daemon: DaemonSession
    ) throws(CommandFailure) -> TaskList.Result {
        switch try daemon.attempt(TaskList.self, query) {
        case .success(let answer): return answer.value
        case .failure(let refusal):
            guard query.order == .queue, refusal.data?.reason == "not_in_fleet" else { throw CommandFailure(refusal) }
            query.order = .ascending
            return try daemon.call(TaskList.self, query).value
        }
    }

    private mutating func add(_ task: TaskRecord, _ stage: TaskStage) {
        seen.insert(task.id)
        guard !isHidden(task, stage) else {
            hasHidden = true
            return
        }
        if stage == .ended { endedCount += 1 }
        records.append(task)
    }

    private func isHidden(_ task: TaskRecord, _ stage: TaskStage) -> Bool {
        guard let oldest, stage == .ended, let end = task.finishedAt else { return false }
        return end < oldest
    }

    /// The number of hidden tasks that ended before today; nil if there are none, or if the list is full without them.
    func hiddenCount(_ daemon: DaemonSession) throws(CommandFailure) -> Int64? {
        guard hasHidden, !isCut else { return nil }
        let counts = try daemon.call(DaemonStatus.self).value.counts
        let ended = TaskStage.ended.states.reduce(Int64(0)) { $0.addingSaturated(counts[$1]) }
        return ended > endedCount ? ended - endedCount : nil
    }
}
