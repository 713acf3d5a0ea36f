import XferModel
import XferProtocol

/// A search among tasks by criteria that the daemon has no filters for: words, times.
struct TaskSearch {
    /// Ids in the arguments.
    private let ids: [TaskIDsArgument]
    /// The searched words in lower case; all have to be in a task's name, label, group or URL.
    private let words: [String]
    private let since: Timestamp?

    /// The fields that `matches` reads.
    static let fields = ["label", "group", "output", "url", "final_path", "created_at", "finished_at", "state"]

    init(words: [String], since: PastTimeArgument?) {
        ids = words.compactMap { TaskIDsArgument(argument: $0) }
        self.words = words.filter { TaskIDsArgument(argument: $0) == nil }.map { $0.lowercased() }
        self.since = since?.time
    }

    /// True if tasks have to be looked through here.
    var filtersLocally: Bool { !words.isEmpty || since != nil }

    /// The part that the daemon filters by; nil is everything.
    func filter(_ options: TaskFilter?, _ daemon: DaemonSession) throws(CommandFailure) -> TaskFilter? {
        var filter = options ?? TaskFilter()
        if !ids.isEmpty { filter.ids = OneOrMany(try SelectionOptions.named(ids, daemon)) }
        return filter == TaskFilter() ? nil : filter
    }

    /// Throws if an id that is listed alone, not in a range, belongs to no task.
    func requireTasks(_ daemon: DaemonSession) throws(CommandFailure) {
        let singles = Set(ids.flatMap(\.singles)).sorted { $0.rawValue < $1.rawValue }
        guard !singles.isEmpty, singles.count <= TaskPages.largest else { return }
        var params = TaskList.Params()
        params.filter = TaskFilter()
        params.filter?.ids = OneOrMany(singles)
        params.limit = singles.count
        params.fields = TaskColumns([])
        let found = Set(try daemon.call(TaskList.self, params).value.tasks.map(\.id))
        let missing = singles.filter { !found.contains($0) }
        guard !missing.isEmpty else { return }
        throw CommandFailure(.refused, "there is no task \(missing.map(\.description).joined(separator: ", "))")
    }

    func matches(_ task: TaskRecord) -> Bool {
        if let since {
            // What has not ended yet counts by its addition.
            guard [task.createdAt, task.finishedAt].contains(where: { $0.map { $0 >= since } ?? false }) else {
                return false
            }
        }
        let texts = [
            TaskSummary.fileName(of: task), task.label ?? "", task.group ?? "", task.url ?? "", task.finalPath ?? "",
        ].map { $0.lowercased() }
        return words.allSatisfy { word in texts.contains { $0.contains(word) } }
    }

    /// `example.org:8080` of a URL, without user info.
    static func host(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@").last ?? authority)
    }

    /// The decoded path of a URL, without its first slash.
    static func path(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...].prefix { !"?#".contains($0) }
        guard let slash = rest.firstIndex(of: "/") else { return "" }
        return TaskSummary.percentDecoded(rest[rest.index(after: slash)...])
    }
}
