import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl set-source`: sets another URL of a download with `task.set_source`.
struct SetSourceCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "set-source", abstract: "Give a download another URL for the same bytes.",
        discussion: """
            For a wrong URL, a file that has moved, or a signed URL that expired: kept bytes are continued if the \
            server shows that they are of the same version. A task that waits for this, or has failed, continues at once.
            """)
    static let states: Set<TaskState> = [.queued, .waiting, .paused, .failed]

    @OptionGroup var task: TaskArgument

    @Argument(help: ArgumentHelp("The new URL.", valueName: "url"))
    var url: String

    @OptionGroup var options: ActionOptions

    func run() throws {
        let answer = try options.open().call(
            TaskSetSource.self, TaskSetSource.Params(id: task.id, url: PastedURL.bare(url)))
        options.show(answer) { result, _ in
            ["task \(result.task.id): \(result.task.state?.description ?? "changed")"]
        }
    }
}
