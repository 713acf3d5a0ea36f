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
    @Argument(help: ArgumentHelp("Ids of tasks.", valueName: "id"))
    var ids: [TaskIDArgument] = []

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
        guard ids.count <= TaskLimits.batchSize else {
            throw ValidationError("At most \(TaskLimits.batchSize) ids at a time.")
        }
    }

    var selection: TaskSelection {
        ids.isEmpty
            ? TaskSelection(filter: filters.filter ?? .everything) : TaskSelection(ids: ids.map(\.id))
    }
}
