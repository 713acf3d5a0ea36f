import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl show`: everything that `task.get` knows.
struct ShowCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show everything about tasks.",
        discussion: "For a failed or waiting task it shows the reason and a remedy.", aliases: ["info"])
    static let states = Set(TaskState.allCases)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: VerbOptions

    mutating func validate() throws { try selection.check() }

    func run() throws {
        let daemon = try options.open()
        let ids = try SelectedTasks(options: selection, daemon: daemon).ids(in: Self.states)
        let calls = ids.map { TaskGet.Params(id: $0) }
        var tasks: [JSONValue] = []
        var failure: CommandFailure?
        let terminal = Terminal.standard
        for answer in try daemon.calls(TaskGet.self, calls) {
            switch answer {
            case .failure(let refusal): failure = failure ?? CommandFailure(refusal)
            case .success(let answer) where options.output.json: tasks.append(answer.raw["task"] ?? .null)
            case .success(let answer):
                if !tasks.isEmpty { terminal.output.line("") }
                tasks.append(.null)
                for line in TaskDetails(style: terminal.style, now: .now).lines(answer.value.task) {
                    terminal.output.line(line)
                }
            }
        }
        if options.output.json { terminal.output.document(["tasks": .array(tasks)]) }
        if let failure { throw failure }
        guard ids.isEmpty, !options.output.json else { return }
        terminal.output.line("nothing to show: \(SelectionReason(selection, daemon).noMatch())")
    }
}
