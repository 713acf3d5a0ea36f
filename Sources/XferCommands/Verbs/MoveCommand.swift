import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl move`: changes the order of starting with `task.move`.
struct MoveCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Change the order in which tasks start.",
        discussion: """
            The order applies to tasks of one host and priority; --top makes their host the next one, too. Several ids \
            keep the given order; with filters the oldest task is the first.
            """)
    static let states = Set<TaskState>.unfinished
    private static let participle = "moved"

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Start them first.")
    var top = false

    @Flag(help: "Start them last.")
    var bottom = false

    @Option(
        help: ArgumentHelp("Start them before this task.", valueName: "id"), completion: .daemon(.tasks),
        transform: TaskIDArgument.argument)
    var before: TaskIDArgument?

    @Option(
        help: ArgumentHelp("Start them after this task.", valueName: "id"), completion: .daemon(.tasks),
        transform: TaskIDArgument.argument)
    var after: TaskIDArgument?

    @OptionGroup var options: ActionOptions

    mutating func validate() throws {
        guard [top, bottom, before != nil, after != nil].filter(\.self).count == 1 else {
            throw ValidationError("No new place: give one of --top, --bottom, --before ID, --after ID.")
        }
        try selection.check()
    }

    func run() throws {
        let daemon = try options.open()
        let target = (before ?? after)?.id
        // A group may contain the task that its others are moved to.
        let ids = try SelectedTasks(options: selection, daemon: daemon).ids(in: Self.states)
            .filter { selection.singles.contains($0) || $0 != target }
        guard ids.count <= TaskLimits.batchSize else {
            throw CommandFailure.usage(
                "at most \(TaskLimits.batchSize) tasks can be moved at a time, \(ids.count) match; narrow the filters")
        }
        guard !ids.isEmpty else {
            return options.showNothing(
                SelectionResult.ids(SelectionResult.Listed()).wire, Self.participle,
                SelectionReason(selection, daemon).noMatch(in: Self.states))
        }
        let position: TaskMove.Position = top ? .top : bottom ? .bottom : before != nil ? .before : .after
        let answer = try daemon.call(TaskMove.self, TaskMove.Params(ids: ids, to: position, target: target))
        options.show(answer) { result, _ in
            SelectionText.lines(
                result, participle: Self.participle, states: Self.states, reason: SelectionReason(selection, daemon))
        }
        try SelectionText.refuseMissing(in: answer.value, among: selection.ids.isEmpty ? [] : selection.singles)
    }
}
