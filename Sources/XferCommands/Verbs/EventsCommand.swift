import ArgumentParser
import Glibc
import XferProtocol

/// `xferctl events`: a live stream (`events.subscribe`) or stored events (`events.since`).
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Follow new events, or read earlier ones.",
        discussion: """
            Events are durable and numbered: --since N replays the events after number N, also after restarts. \
            Without --no-follow new ones are printed until Ctrl-C, also into a pipe.
            """)

    @Option(
        help: ArgumentHelp("Begin after this number; 0 is the oldest stored event.", valueName: "seq"),
        transform: Int64.eventNumber)
    var since: Int64?

    @Option(name: [.customShort("t"), .long], help: "Only events of this type; may be repeated.")
    var type: [EnumArgument<EventName>] = []

    @Option(
        help: ArgumentHelp("Only events about this task; may be repeated.", valueName: "id"),
        completion: .daemon(.tasks), transform: TaskIDArgument.argument)
    var task: [TaskIDArgument] = []

    @Flag(help: "End after the stored events.")
    var noFollow = false

    @Flag(help: "Show progress, too.")
    var progress = false

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        if let since, since < 0 { throw ValidationError("--since: expected 0 or more.") }
    }

    func run() throws {
        var stream = EventStream(options: options.connection, isRaw: options.output.json)
        if !type.isEmpty {
            stream.types = type.map(\.word)
        } else if progress {
            stream.types = EventStream.known(options.connection)
        }
        stream.tasks = task.isEmpty ? nil : task.map(\.id)
        stream.since = since
        if noFollow { return try stream.readAll() }
        if since != nil, isatty(STDOUT_FILENO) == 0 {
            Output.error.line("xferctl: follows new events until Ctrl-C; --no-follow ends after the stored ones")
        }
        try stream.follow()
    }
}
