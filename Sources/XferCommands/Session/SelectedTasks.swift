import XferModel
import XferProtocol

/// The tasks that options select, as ids, for verbs whose methods take no filter.
struct SelectedTasks {
    let options: SelectionOptions
    let daemon: DaemonSession

    /// The ids that were given; for filters the matching tasks, the oldest first.
    ///
    /// Single ids are not looked up. A range contains only tasks that exist.
    ///
    /// - Parameter states: the states that the verb can act on. Filters without a state are narrowed to them.
    func ids(in states: Set<TaskState>) throws(CommandFailure) -> [TaskID] {
        guard options.ids.isEmpty else {
            let named = try options.namedIDs(daemon)
            let singles = options.singles
            guard named.contains(where: { !singles.contains($0) }) else { return named }
            let found = try existing(named).union(singles)
            let ids = named.filter { found.contains($0) }
            guard !ids.isEmpty else { throw CommandFailure(.refused, SelectionOptions.emptyRange) }
            return ids
        }
        var filter = options.filters.filter ?? TaskFilter()
        if filter.state == nil, states.count < TaskState.allCases.count {
            filter.state = OneOrMany(TaskState.allCases.filter { states.contains($0) })
        }
        return try matching(options.all && filter.state == nil ? .everything : filter)
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
}

/// Why filters select nothing, or nothing that a verb could change.
struct SelectionReason {
    let filters: FilterOptions
    let daemon: DaemonSession

    init(_ options: SelectionOptions, _ daemon: DaemonSession) { self.init(options.filters, daemon) }

    init(_ filters: FilterOptions, _ daemon: DaemonSession) {
        self.filters = filters
        self.daemon = daemon
    }

    /// The message about filters that match no task. It states a group that does not exist, and the one that was
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
        params.limit = GroupText.largestPage
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

    /// The highest number of groups that are searched: every batch is one.
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
