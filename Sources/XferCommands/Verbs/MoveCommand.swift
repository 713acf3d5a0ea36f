import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl move`: changes the order of starting with `task.move`.
struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Change the order in which tasks start.",
        discussion: "The order holds among tasks of one host and priority; --top makes their host the next one, too.")

    @Argument(help: ArgumentHelp("Ids of tasks; several keep the order given.", valueName: "id"))
    var ids: [TaskIDArgument]

    @Flag(help: "Start them first.")
    var top = false

    @Flag(help: "Start them last.")
    var bottom = false

    @Option(help: ArgumentHelp("Start them before this task.", valueName: "id"))
    var before: TaskIDArgument?

    @Option(help: ArgumentHelp("Start them after this task.", valueName: "id"))
    var after: TaskIDArgument?

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        guard [top, bottom, before != nil, after != nil].filter(\.self).count == 1 else {
            throw ValidationError("Where to? Give one of --top, --bottom, --before ID, --after ID.")
        }
    }

    func run() throws {
        let position: TaskMove.Position = top ? .top : bottom ? .bottom : before != nil ? .before : .after
        let params = TaskMove.Params(ids: ids.map(\.id), to: position, target: (before ?? after)?.id)
        let answer = try options.open().call(TaskMove.self, params)
        options.show(answer) { result, _ in SelectionText.lines(result, deed: "moved") }
        try SelectionText.refuseMissing(in: answer.value)
    }
}
