import ArgumentParser
import XferModel
import XferProtocol

/// A task's id as an argument: `7`, or `#7` as listings of other programs write it.
struct TaskIDArgument: Hashable, Sendable, ExpressibleByArgument {
    let id: TaskID

    init?(argument: String) {
        let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(digits, radix: 10), number > 0
        else {
            return nil
        }
        id = TaskID(number)
    }
}

/// Ids of tasks as an argument: `7`, `1,2`, `1-5`, and `7-` up to the newest task.
struct TaskIDsArgument: Hashable, Sendable, ExpressibleByArgument {
    /// Each with its last id; nil is the newest task's.
    private let ranges: [Range]

    private struct Range: Hashable {
        let first: Int64
        let last: Int64?
    }

    init?(argument: String) {
        var ranges: [Range] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = TaskIDArgument(argument: String(ends[0]))?.id.rawValue else { return nil }
            switch ends.count {
            case 1: ranges.append(Range(first: first, last: first))
            case 2 where ends[1].isEmpty: ranges.append(Range(first: first, last: nil))
            default:
                guard let last = TaskIDArgument(argument: String(ends[1]))?.id.rawValue, first <= last else {
                    return nil
                }
                ranges.append(Range(first: first, last: last))
            }
        }
        self.ranges = ranges
    }

    var hasOpenEnd: Bool { ranges.contains { $0.last == nil } }

    /// The ids that were named one by one. A range may contain ids of tasks that are gone.
    var singles: [TaskID] { ranges.filter { $0.first == $0.last }.map { TaskID($0.first) } }

    /// All ids, at most one more than a call takes.
    func ids(newest: TaskID?) -> [TaskID] {
        let most = TaskLimits.batchSize + 1
        var ids: [TaskID] = []
        for range in ranges {
            let last = range.last ?? newest?.rawValue ?? 0
            guard range.first <= last else { continue }
            let count = min(last.subtractingSaturated(range.first), Int64(clamping: most - ids.count)) + 1
            ids += (0..<count).map { TaskID(range.first + $0) }
            if ids.count >= most { return Array(ids.prefix(most)) }
        }
        return ids
    }
}

/// Filters that pick tasks by what they are.
struct FilterOptions: ParsableArguments {
    @Option(help: "Only tasks in this state; may be repeated.")
    var state: [WordArgument<TaskState>] = []

    @Option(help: ArgumentHelp("Only tasks of this group; may be repeated.", valueName: "name"))
    var group: [String] = []

    @Option(help: ArgumentHelp("Only tasks with this label; may be repeated.", valueName: "text"))
    var label: [String] = []

    @Option(help: ArgumentHelp("Only tasks that were added to this slot; may be repeated.", valueName: "name"))
    var slot: [String] = []

    @Option(help: ArgumentHelp("Only tasks for this host; may be repeated.", valueName: "host"))
    var host: [String] = []

    /// Nil when no filter was given.
    var filter: TaskFilter? {
        guard !state.isEmpty || !group.isEmpty || !label.isEmpty || !slot.isEmpty || !host.isEmpty else {
            return nil
        }
        var filter = TaskFilter()
        filter.state = state.isEmpty ? nil : OneOrMany(state.map(\.word))
        filter.group = group.isEmpty ? nil : OneOrMany(group)
        filter.label = label.isEmpty ? nil : OneOrMany(label)
        filter.slot = slot.isEmpty ? nil : OneOrMany(slot)
        filter.host = host.isEmpty ? nil : OneOrMany(host)
        return filter
    }
}

/// Which tasks a verb acts on: ids, or filters, or all.
struct SelectionOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("Ids of tasks: 7, 1,2, 1-5, or 7- up to the newest.", valueName: "id"))
    var ids: [TaskIDsArgument] = []

    @Flag(help: "All tasks you may touch.")
    var all = false

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    mutating func validate() throws {
        let ways = [!ids.isEmpty, all, filters.filter != nil].filter(\.self).count
        guard ways > 0 else {
            throw ValidationError("Which tasks? Give ids, filters such as --state failed, or --all.")
        }
        guard ways == 1 else { throw ValidationError("Ids, filters and --all exclude each other.") }
    }

    /// What to ask the daemon for; the daemon says which task is the newest where a range has no end.
    func selection(_ daemon: DaemonSession) throws(CommandFailure) -> TaskSelection {
        guard !ids.isEmpty else { return TaskSelection(filter: filters.filter ?? .everything) }
        var newest: TaskID?
        if ids.contains(where: \.hasOpenEnd) {
            var page = TaskList.Params()
            page.limit = 1
            page.fields = TaskColumns([])
            newest = try daemon.call(TaskList.self, page).value.tasks.first?.id
        }
        let all = ids.flatMap { $0.ids(newest: newest) }
        guard all.count <= TaskLimits.batchSize else {
            throw .usage("at most \(TaskLimits.batchSize) ids at a time; use filters for more")
        }
        guard !all.isEmpty else { throw CommandFailure(.refused, "there is no task in this range") }
        return TaskSelection(ids: all)
    }

    /// The ids that have to be there.
    var singles: Set<TaskID> { Set(ids.flatMap(\.singles)) }
}
