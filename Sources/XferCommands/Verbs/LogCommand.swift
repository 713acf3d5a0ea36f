import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl log`: the history of one task, from its events.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the events of a task.",
        discussion: """
            One line an event, the oldest first, as far back as the daemon keeps events (events.max_age). The log of \
            the daemon itself is `xferctl daemon log`.
            """)

    @OptionGroup var task: TaskArgument

    @Flag(name: [.customShort("f"), .customLong("follow")], help: "Continue with new events, until Ctrl-C.")
    var follows = false

    @OptionGroup var options: VerbOptions

    func run() throws {
        // Says so if there is no such task.
        _ = try options.open().call(TaskGet.self, TaskGet.Params(id: task.id))
        var stream = EventStream(options: options.connection, isRaw: options.output.json)
        stream.tasks = [task.id]
        stream.since = 0
        if follows { try stream.follow() } else { try stream.readAll() }
    }
}
