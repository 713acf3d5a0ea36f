import ArgumentParser
import Glibc
import XferModel
import XferProtocol

/// `xferctl events`: a live stream (`events.subscribe`) or stored events (`events.since`).
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Follow new events, or read earlier ones.",
        discussion: """
            Events are durable and numbered: --since N replays the events after number N, also after restarts. \
            --json shows the numbers as "seq". Without --no-follow new ones are printed until Ctrl-C, also into a pipe.

              xferctl events -n 20 --no-follow
            """)

    @Option(
        help: ArgumentHelp("Begin after this number; 0 is the oldest stored event.", valueName: "seq"),
        transform: Int64.eventNumber)
    var since: Int64?

    @Option(name: [.customShort("t"), .long], help: "Only events of this type, or these, separated by commas.")
    var type: [EnumArguments<EventName>] = []

    @Option(
        name: [.customShort("n"), .customLong("last")],
        help: ArgumentHelp("Begin with the newest stored events of those to show, this many.", valueName: "count"),
        transform: Int64.integer)
    var last: Int64?

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
        if let last, last < 1 { throw ValidationError("--last: expected at least 1.") }
        if last != nil, since != nil { throw ValidationError("--last and --since exclude each other.") }
        if let since, since < 0 { throw ValidationError("--since: expected 0 or more.") }
    }

    func run() throws {
        var stream = EventStream(options: options.connection, isRaw: options.output.json)
        if !type.isEmpty {
            stream.types = type.flatMap(\.words)
        } else if progress {
            stream.types = EventStream.known(options.connection)
        }
        stream.tasks = task.isEmpty ? nil : task.map(\.id)
        stream.since = try begin(stream)
        if noFollow { return try stream.readAll() }
        if since != nil, isatty(STDOUT_FILENO) == 0 {
            Output.error.line("xferctl: follows new events until Ctrl-C; --no-follow ends after the stored ones")
        }
        try stream.follow()
    }

    /// The number of the event to begin after; nil begins with new events.
    private func begin(_ stream: EventStream) throws(CommandFailure) -> Int64? {
        if let last { return try stream.begin(ofNewest: last, options.open()) }
        guard let since, since > 0 else { return since }
        let newest = try options.open().lastEventNumber()
        if since > newest { Output.error.line("xferctl: --since \(since): the newest event has the number \(newest)") }
        return since
    }
}
