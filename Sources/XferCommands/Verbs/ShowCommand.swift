import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl show`: everything that `task.get` knows.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show everything about tasks.",
        discussion: "For a failed or waiting task this says why, and what can be done about it.", aliases: ["info"])

    @Argument(help: ArgumentHelp("Ids of tasks.", valueName: "id"))
    var ids: [TaskIDArgument]

    @OptionGroup var options: VerbOptions

    func run() throws {
        let daemon = try options.open()
        for (index, argument) in ids.enumerated() {
            if index > 0 && !options.output.json { Output.standard.line("") }
            options.show(try daemon.call(TaskGet.self, TaskGet.Params(id: argument.id))) { result, terminal in
                TaskDetails(style: terminal.style, now: .now).lines(result.task)
            }
        }
    }
}
