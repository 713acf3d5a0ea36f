import ArgumentParser
import StrictJSON

/// Options of a verb that calls the daemon and prints what it answers.
protocol DaemonOptions {
    var connection: ConnectionOptions { get }
    var output: OutputOptions { get }
    /// True if only errors and the document of `--json` are printed.
    var isQuiet: Bool { get }
}

/// The options of every verb that calls the daemon.
struct VerbOptions: ParsableArguments, DaemonOptions {
    @OptionGroup(title: "Daemon")
    var connection: ConnectionOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    var isQuiet: Bool { false }
}

/// The options of every verb that changes something and confirms it.
struct ActionOptions: ParsableArguments, DaemonOptions {
    @OptionGroup var verbosity: VerbosityOptions
    @OptionGroup var verb: VerbOptions

    var connection: ConnectionOptions { verb.connection }
    var output: OutputOptions { verb.output }
    var isQuiet: Bool { verbosity.quiet }
}

extension DaemonOptions {
    var isFleet: Bool { connection.isFleet }

    func open() throws(CommandFailure) -> DaemonSession { try DaemonSession.open(connection.instance()) }

    /// Prints the raw answer, or the result of `text`.
    func show<Value>(
        _ answer: DaemonSession.Answer<Value>, on terminal: Terminal = .standard, _ text: (Value, Terminal) -> [String]
    ) {
        if output.json { return terminal.output.document(answer.raw) }
        guard !isQuiet else { return }
        for line in text(answer.value, terminal) { terminal.output.line(line) }
    }

    /// Prints an answer that this program composed, as one document or as lines.
    func show(_ document: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) {
        if output.json { return Output.standard.document(document()) }
        guard !isQuiet else { return }
        for line in lines() { Output.standard.line(line) }
    }

    /// Prints the reason why nothing was done, which is not an error.
    func showNothing(
        _ document: @autoclosure () -> JSONValue, _ participle: String, _ reason: @autoclosure () -> String
    ) {
        show(document(), ["nothing \(participle): \(reason())"])
    }
}

/// Options that select the daemon; every verb has these.
struct ConnectionOptions: ParsableArguments {
    @Flag(name: .customLong("user"), help: "Use your own daemon only.")
    var isUser = false

    @Flag(name: .customLong("system"), help: "Use the system's daemon only.")
    var isSystem = false

    @Flag(
        name: .customLong("fleet"), help: "Use the fleet of this machine's xfer-fleet: one queue for many daemons.")
    var isFleet = false

    @Option(help: ArgumentHelp("Use the daemon at this Unix socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(help: ArgumentHelp("Use the daemon that listens at this network address.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp("With --server: read the token from this file.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        name: .customLong("server-ca"),
        help: ArgumentHelp(
            "With --server: check its certificate against this file, not the system's authorities.", valueName: "file"),
        completion: .file())
    var caFile: String?

    /// True if paths are those of another machine.
    var isRemote: Bool { server != nil }

    mutating func validate() throws {
        let chosen = [isUser, isSystem, isFleet, socket != nil, server != nil].filter(\.self).count
        guard chosen <= 1 else {
            throw ValidationError("--user, --system, --fleet, --socket and --server exclude each other.")
        }
        if socket?.isEmpty == true { throw ValidationError("--socket: expected a path, found nothing.") }
        guard server == nil || tokenFile != nil else {
            throw ValidationError("--server needs --token-file FILE, with a token of `xferctl token add`.")
        }
        guard server != nil || tokenFile == nil && caFile == nil else {
            throw ValidationError("--token-file and --server-ca need --server URL.")
        }
    }
}

/// Raw answers instead of text for people.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print what the daemon answered, as one line of JSON.")
    var json = false
}

/// Options for less output, for scripts that check the exit status.
struct VerbosityOptions: ParsableArguments {
    @Flag(
        name: [.customShort("q"), .customLong("quiet")],
        help: "Print only errors, and requested output: a body, or the document of --json.")
    var quiet = false
}

/// The options of verbs that wait with --wait.
struct WaitBounds: ParsableArguments {
    @Option(help: ArgumentHelp("With --wait: wait at most this long.", valueName: "time"), transform: TimeSpan.argument)
    var timeout: TimeSpan?

    @Flag(help: "With --wait: notify at the end, on the desktop and by the terminal's bell.")
    var notify = false

    /// Throws `ValidationError` if an option is set, but nothing waits.
    func check(isWaiting: Bool) throws {
        guard !isWaiting else { return }
        if timeout != nil {
            throw ValidationError("--timeout needs --wait; a silent server ends an attempt after --idle-timeout.")
        }
        if notify {
            throw ValidationError("--notify needs --wait; `xferctl notify` reports every task that ends.")
        }
    }
}

/// The options of verbs that can wait for a batch.
struct WaitOptions: ParsableArguments {
    @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until all have ended.")
    var isOn = false

    @OptionGroup var bounds: WaitBounds

    func check() throws { try bounds.check(isWaiting: isOn) }
}

/// The heading of a table.
struct HeadingOption: ParsableArguments {
    @Flag(name: .customLong("no-header"), help: "Leave out the line with the columns' names.")
    var isHidden = false
}

/// The list of URLs that a verb adds.
struct InputFileOption: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            "Read URLs, and aria2's options below them, from this file; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?
}

/// The choice between starting a daemon and not, for commands that add tasks.
struct StartOptions: ParsableArguments {
    @Flag(name: .customLong("no-start"), help: "Start no daemon of your own when none runs.")
    var isForbidden = false
}

extension DaemonOptions {
    /// Connects; starts a daemon of the user's if none runs and that is allowed.
    func open(_ start: StartOptions) throws(CommandFailure) -> DaemonSession {
        try DaemonSession.open(connection.instance(), mayStart: !start.isForbidden)
    }
}
