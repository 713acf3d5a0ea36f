import ArgumentParser
import XferModel
import XferProtocol

/// Filters that select tasks by their properties.
struct FilterOptions: ParsableArguments {
    @Option(help: "Only tasks in this state, or these, separated by commas; may be repeated.")
    var state: [EnumArguments<TaskState>] = []

    @Flag(help: "Only failed tasks, as --state failed.")
    var failed = false

    @Option(
        help: ArgumentHelp("Only tasks of this group; may be repeated.", valueName: "name"),
        completion: .daemon(.groups))
    var group: [String] = []

    @Option(
        help: ArgumentHelp("Only tasks with this label; may be repeated.", valueName: "text"),
        completion: .daemon(.labels))
    var label: [String] = []

    @Option(
        help: ArgumentHelp("Only tasks that were added to this slot; may be repeated.", valueName: "name"),
        completion: .daemon(.slots))
    var slot: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks for this host, at any port or at the given one; may be repeated.",
            valueName: "host"),
        completion: .daemon(.hosts))
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks whose last failure has this reason, such as http_status; may be repeated.",
            valueName: "name"),
        completion: .list(FailureReason.allCases.map(\.wireName)), transform: Self.reason)
    var reason: [FailureReason] = []

    @Option(
        help: ArgumentHelp(
            "Only tasks of this user (operators only): a local user name or a uid; may be repeated.",
            valueName: "user"), transform: OwnerArgument.argument)
    var owner: [Owner] = []

    /// Every state that was given, `--failed` included.
    var states: [TaskState] {
        let named = state.flatMap(\.words)
        return failed && !named.contains(.failed) ? named + [.failed] : named
    }

    /// The filter, or nil when none was given.
    var filter: TaskFilter? {
        let others = [group, label, slot, host]
        guard !(states.isEmpty && others.allSatisfy(\.isEmpty) && reason.isEmpty && owner.isEmpty) else { return nil }
        var filter = TaskFilter()
        filter.state = states.isEmpty ? nil : OneOrMany(states)
        filter.group = group.isEmpty ? nil : OneOrMany(group)
        filter.label = label.isEmpty ? nil : OneOrMany(label)
        filter.slot = slot.isEmpty ? nil : OneOrMany(slot)
        filter.host = host.isEmpty ? nil : OneOrMany(host)
        filter.reason = reason.isEmpty ? nil : OneOrMany(reason)
        filter.owner = owner.isEmpty ? nil : OneOrMany(owner)
        return filter
    }

    /// The filters as options, for messages.
    var words: String {
        let named = [
            ("group", group), ("label", label), ("slot", slot), ("host", host), ("reason", reason.map(\.wireName)),
            ("owner", owner.map(\.description)),
        ]
        let texts =
            states.map { "--state \($0.rawValue)" }
            + named.flatMap { name, values in values.map { "--\(name) \(SafeText.sanitised($0))" } }
        return texts.joined(separator: " ")
    }

    private static func reason(_ text: String) throws -> FailureReason {
        if let reason = FailureReason(wireName: text) { return reason }
        let near = FailureReason.allCases.map(\.wireName).closest(to: text).map { "; did you mean \($0)?" } ?? ""
        throw ValidationError("expected a reason such as http_status; `xferctl failed --json` shows yours\(near)")
    }
}

/// Options that select the tasks of a verb: ids, or filters, or all. Each verb that has them calls `check` when it
/// validates.
struct SelectionOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Ids of tasks: 7, 1,2, 1-5, or 7- up to the newest.", valueName: "id"),
        completion: .daemon(.tasks), transform: Self.ids)
    var ids: [TaskIDsArgument] = []

    @Flag(help: "All tasks you may touch.")
    var all = false

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    private static func ids(_ text: String) throws -> TaskIDsArgument {
        guard EnumArguments<TaskState>(argument: text.lowercased()) == nil else {
            throw ValidationError("\(text.lowercased()) is a state; did you mean --state \(text.lowercased())?")
        }
        return try TaskIDsArgument.argument(text)
    }

    /// Checks that tasks are selected in exactly one way.
    ///
    /// - Throws: `ValidationError` unless tasks are selected in exactly one way.
    func check() throws {
        let ways = [!ids.isEmpty, all, filters.filter != nil].filter(\.self).count
        guard ways > 0 else {
            throw ValidationError("No tasks: give ids, filters such as --state failed, or --all.")
        }
        guard ways == 1 else { throw ValidationError("Ids, filters and --all exclude each other.") }
    }

    /// The selection to send to the daemon. For a range without an end, the daemon supplies the newest task.
    func selection(_ daemon: DaemonSession) throws(CommandFailure) -> TaskSelection {
        guard !ids.isEmpty else { return TaskSelection(filter: filters.filter ?? .everything) }
        return TaskSelection(ids: try namedIDs(daemon))
    }

    /// The ids in the arguments, including all ids of ranges, even if there are no such tasks.
    func namedIDs(_ daemon: DaemonSession) throws(CommandFailure) -> [TaskID] { try Self.named(ids, daemon) }

    /// The ids of several arguments.
    static func named(_ ids: [TaskIDsArgument], _ daemon: DaemonSession) throws(CommandFailure) -> [TaskID] {
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
        guard !all.isEmpty else { throw CommandFailure(.refused, Self.emptyRange) }
        return all
    }

    /// The refusal of a range without a task.
    static let emptyRange = "there is no task in this range"

    /// The ids of which each must exist.
    var singles: Set<TaskID> { Set(ids.flatMap(\.singles)) }
}
