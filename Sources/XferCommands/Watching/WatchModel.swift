import XferModel
import XferProtocol

/// What the live view of the whole queue knows. A value: fed with listings and events.
struct WatchModel: Sendable {
    var stats = QueueStats.Result()
    /// Running and waiting tasks, oldest first; bounded by what a screen can show.
    private(set) var active: [TaskSummary] = []
    /// Ended last, newest first.
    private(set) var recent: [TaskSummary] = []
    /// Whether something happened that only a new listing can tell.
    private(set) var isStale = true

    /// Most tasks of each kind: no terminal has more rows.
    static let capacity = 200

    mutating func onRefresh(stats: QueueStats.Result, active: [TaskSummary], recent: [TaskSummary]) {
        self.stats = stats
        self.active = Array(active.prefix(Self.capacity))
        self.recent = Array(recent.prefix(Self.capacity))
        isStale = false
    }

    mutating func onEvent(_ event: EventMessage) {
        // Progress is the frequent one and needs no listing; for all others the counts have to be asked anew.
        if event.type != .known(.progress) { isStale = true }
        guard let id = event.taskID?.rawValue, let index = active.firstIndex(where: { $0.id == id }) else {
            if event.type == .known(.progress) { isStale = true }
            return
        }
        active[index].apply(event)
        guard active[index].isTerminal else { return }
        recent.insert(active.remove(at: index), at: 0)
        if recent.count > Self.capacity { recent.removeLast() }
    }

    /// Bytes per second over all tasks as the daemon counts them: the tasks' own rates would count what they share several
    /// times.
    var rate: Int64 {
        let sum = stats.rates.received.addingReportingOverflow(stats.rates.sent)
        return sum.overflow ? .max : sum.partialValue
    }

    /// Whether the rate changes without an event.
    var isMoving: Bool { rate > 0 || active.contains(where: \.isRunning) }

    /// Whether something on the screen counts down.
    var hasCountdown: Bool { active.contains { !$0.isRunning && $0.waitUntil != nil } }
}
