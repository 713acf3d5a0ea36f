import XferModel
import XferProtocol

/// The tasks that options select, as ids, for verbs whose methods do not accept a filter.
struct SelectedTasks {
    let named: [TaskIDsArgument]
    let isAll: Bool
    let filters: FilterOptions
    let daemon: DaemonSession

    init(named: [TaskIDsArgument], isAll: Bool, filters: FilterOptions, daemon: DaemonSession) {
        self.named = named
        self.isAll = isAll
        self.filters = filters
        self.daemon = daemon
    }

    init(options: SelectionOptions, daemon: DaemonSession) {
        self.init(named: options.ids, isAll: options.all, filters: options.filters, daemon: daemon)
    }

    /// The ids that were given; for filters the matching tasks, the oldest first.
    ///
    /// Single ids are not looked up. A range contains only tasks that exist.
    ///
    /// - Parameter states: the states that the verb can act on. Filters without a state are narrowed to them.
    func ids(in states: Set<TaskState>) throws(CommandFailure) -> [TaskID] {
        guard named.isEmpty else {
            let singles = Set(named.flatMap(\.singles))
            let named = try SelectionOptions.named(named, daemon)
            guard named.contains(where: { !singles.contains($0) }) else { return named }
            let found = try existing(named).union(singles)
            let ids = named.filter { found.contains($0) }
            guard !ids.isEmpty else { throw CommandFailure(.refused, SelectionOptions.emptyRange) }
            return ids
        }
        var filter = filters.filter ?? TaskFilter()
        if filter.state == nil, states.count < TaskState.allCases.count {
            filter.state = OneOrMany(TaskState.allCases.filter { states.contains($0) })
        }
        return try matching(isAll && filter.state == nil ? .everything : filter)
    }

    private func existing(_ ids: [TaskID]) throws(CommandFailure) -> Set<TaskID> {
        var found: Set<TaskID> = []
        for start in stride(from: 0, to: ids.count, by: TaskPages.largest) {
            var filter = TaskFilter()
            filter.ids = OneOrMany(Array(ids[start..<min(start + TaskPages.largest, ids.count)]))
            found.formUnion(try matching(filter))
        }
        return found
    }

    private func matching(_ filter: TaskFilter) throws(CommandFailure) -> [TaskID] {
        var params = TaskList.Params()
        params.filter = filter
        params.order = .ascending
        params.fields = TaskColumns([])
        params.limit = TaskPages.largest
        var ids: [TaskID] = []
        repeat {
            let page = try daemon.call(TaskList.self, params).value
            ids += page.tasks.map(\.id)
            params.cursor = page.nextCursor
        } while params.cursor != nil
        return ids
    }

    /// The tasks that published these files: for each path the newest one of the best rank.
    ///
    /// - Parameters:
    ///   - paths: absolute paths of files.
    ///   - directories: beginnings of paths that end in a slash; the files beneath them are wanted, too.
    ///   - rank: of a task; 0 is the best.
    static func publishing(
        _ paths: Set<String>, beneath directories: Set<String>, fields: [String],
        by rank: (TaskRecord) -> Int, _ daemon: DaemonSession
    ) throws(CommandFailure) -> [String: TaskID] {
        var params = TaskList.Params()
        var filter = TaskFilter()
        filter.state = OneOrMany([.completed])
        params.filter = filter
        params.fields = TaskColumns(["final_path"] + fields)
        params.limit = TaskPages.largest
        var found: [String: (rank: Int, id: TaskID)] = [:]
        repeat {
            // The newest come first.
            let page = try daemon.call(TaskList.self, params).value
            for task in page.tasks {
                guard let path = task.finalPath,
                    paths.contains(path) || directories.contains(where: { path.hasPrefix($0) })
                else { continue }
                let rank = rank(task)
                if found[path].map({ rank < $0.rank }) ?? true { found[path] = (rank, task.id) }
            }
            let isComplete = found.values.count { $0.rank == 0 } >= paths.count && directories.isEmpty
            params.cursor = isComplete ? nil : page.nextCursor
        } while params.cursor != nil
        return found.mapValues(\.id)
    }
}

/// The reason why filters select nothing, or nothing that a verb could change.
struct SelectionReason {
    let filters: FilterOptions
    let daemon: DaemonSession

    init(_ options: SelectionOptions, _ daemon: DaemonSession) { self.init(options.filters, daemon) }

    init(_ filters: FilterOptions, _ daemon: DaemonSession) {
        self.filters = filters
        self.daemon = daemon
    }

    /// The message about filters that match no task. It mentions a group that does not exist, and the one that was
    /// probably meant.
    ///
    /// - Parameter states: the states to which filters without a state were narrowed; nil if they were not.
    func noMatch(in states: Set<TaskState>? = nil) -> String {
        let kind = narrowed(states).map { "\($0) task" } ?? "task"
        guard filters.filter != nil else { return "there is no \(kind)" }
        let text = "no \(kind) matches \(filters.words)"
        return filters.group.reduce(text) { text, name in
            guard let known = try? GroupNames(daemon), !known.names.contains(name) else { return text }
            return text + "; " + known.unknown(name)
        }
    }

    /// The number of tasks per state, for tasks that matched and stayed unchanged.
    func states() -> String? {
        var params = TaskList.Params()
        params.filter = filters.filter ?? .everything
        params.fields = TaskColumns(["state"])
        params.limit = TaskPages.largest
        guard let page = try? daemon.call(TaskList.self, params).value, !page.tasks.isEmpty else { return nil }
        let counts = Dictionary(grouping: page.tasks) { $0.state?.description ?? "unknown" }.mapValues(\.count)
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        return (page.nextCursor == nil ? "" : "of the newest \(page.tasks.count), ")
            + SafeText.sanitised(parts.joined(separator: ", "))
    }

    private func narrowed(_ states: Set<TaskState>?) -> String? {
        guard let states, filters.states.isEmpty, states.count < TaskState.allCases.count else { return nil }
        return states.words(joinedBy: "or")
    }
}

/// The groups that the caller can see.
struct GroupNames {
    let names: [String]

    /// - Throws: the daemon's refusal.
    init(_ daemon: DaemonSession) throws(CommandFailure) {
        var params = GroupList.Params()
        params.limit = TaskPages.largest
        var names: [String] = []
        repeat {
            let page = try daemon.call(GroupList.self, params).value
            names += page.groups.map(\.name)
            params.cursor = page.nextCursor
        } while params.cursor != nil && names.count < Self.most
        self.names = names
    }

    /// A text for people: `there is no group "isoz"; did you mean isos?`.
    func unknown(_ name: String) -> String {
        let hint = names.closest(to: name).map { "; did you mean \(SafeText.sanitised($0))?" } ?? ""
        return "there is no group \"\(SafeText.sanitised(name))\"\(hint)"
    }

    /// The highest number of groups that are searched: every batch is a group.
    private static let most = 20_000
}

extension Set<TaskState> {
    /// The states in which a task has not ended.
    static let unfinished = Set(TaskState.allCases.filter { !$0.isTerminal })

    /// `queued, waiting or running`; all states before the end are `unfinished`, all others `ended`.
    func words(joinedBy conjunction: String) -> String {
        if self == .unfinished { return "unfinished" }
        if self == Set(TaskState.allCases).subtracting(.unfinished) { return "ended" }
        let names = TaskState.allCases.filter { contains($0) }.map(\.rawValue)
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " \(conjunction) " + last
    }
}
