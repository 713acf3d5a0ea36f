import XferModel
import XferProtocol

/// The results of a list's tasks in one line: `5 tasks: 2 downloaded (12 MiB in 4s), 2 existed already`.
struct ListSummary: Hashable, Sendable {
    private(set) var downloaded = 0
    private(set) var bytes: Int64 = 0
    /// The number of files that were made from cached responses, without a request.
    private(set) var cached = 0
    /// The number of files that were correct or current already.
    private(set) var existing = 0
    private(set) var cancelled = 0
    private(set) var unfinished = 0
    /// Failures by cause, in the order of their first occurrences. Not sanitised.
    private(set) var failures: [(cause: String, count: Int)] = []

    static func == (left: ListSummary, right: ListSummary) -> Bool { left.line(seconds: 0) == right.line(seconds: 0) }

    func hash(into hasher: inout Hasher) { hasher.combine(line(seconds: 0)) }

    init() {}

    /// - Parameter cached: the tasks that used cached responses and made no request.
    init(_ tasks: [TaskSummary], cached: Set<Int64>) {
        for task in tasks { add(task, isCached: cached.contains(task.id)) }
    }

    mutating func add(_ task: TaskSummary, isCached: Bool = false) {
        switch TaskState(rawValue: task.state) {
        case .completed where task.isSkipped || task.isNotModified: existing += 1
        case .completed where isCached: cached += 1
        case .completed:
            downloaded += 1
            bytes = bytes.addingSaturated(max(0, task.total ?? task.received))
        case .failed:
            let cause = task.failure.map { FailureText.cause($0) } ?? "unknown"
            if let index = failures.firstIndex(where: { $0.cause == cause }) {
                failures[index].count += 1
            } else {
                failures.append((cause, 1))
            }
        case .cancelled: cancelled += 1
        default: unfinished += 1
        }
    }

    /// The summary as one line.
    ///
    /// - Parameter seconds: the time since the list was added.
    func line(seconds: Int64) -> String {
        let failed = failures.reduce(0) { $0 + $1.count }
        let count = downloaded + cached + existing + failed + cancelled + unfinished
        var parts: [String] = []
        if downloaded > 0 {
            parts.append("\(downloaded) downloaded (\(ByteText.size(bytes)) in \(DurationText.short(seconds)))")
        }
        if cached > 0 { parts.append("\(cached) from the cache") }
        if existing > 0 { parts.append("\(existing) existed already") }
        if failed > 0 {
            let causes = failures.sorted { $0.count > $1.count }.prefix(3)
                .map { "\($0.count) \(SafeText.sanitised($0.cause))" }
            let more = failures.count > 3 ? ", and others" : ""
            parts.append("\(failed) failed: \(causes.joined(separator: ", "))\(more)")
        }
        if cancelled > 0 { parts.append("\(cancelled) cancelled") }
        if unfinished > 0 { parts.append("\(unfinished) not finished") }
        return "\(count) \(count == 1 ? "task" : "tasks"): \(parts.joined(separator: ", "))"
    }

    /// Reads which of the tasks used cached responses and made no request: their events do not say so.
    static func readCached(_ ids: [TaskID], _ daemon: DaemonSession) throws(CommandFailure) -> Set<Int64> {
        var cached: Set<Int64> = []
        for start in stride(from: 0, to: ids.count, by: TaskPages.largest) {
            var params = TaskList.Params()
            params.filter = TaskFilter()
            params.filter?.ids = OneOrMany(Array(ids[start..<min(start + TaskPages.largest, ids.count)]))
            params.fields = TaskColumns(["cache_policy", "last_attempt"])
            params.limit = TaskPages.largest
            repeat {
                let page = try daemon.call(TaskList.self, params).value
                cached.formUnion(page.tasks.lazy.filter(isFromCache).map(\.id.rawValue))
                params.cursor = page.nextCursor
            } while params.cursor != nil
        }
        return cached
    }

    /// True if the task used a cached response and made no request. One that was validated has an attempt.
    static func isFromCache(_ record: TaskRecord) -> Bool {
        guard case .set(let policy) = record.choices.cachePolicy else { return false }
        return policy.usesCache && record.lastAttempt == nil
    }
}
