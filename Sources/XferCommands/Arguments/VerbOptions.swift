import ArgumentParser
import StrictJSON

/// What every verb that calls the daemon has.
struct VerbOptions: ParsableArguments {
    @OptionGroup(title: "Daemon")
    var connection: ConnectionOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func open() throws(CommandFailure) -> DaemonSession { try DaemonSession.open(connection.instance) }

    /// Prints the raw answer, or what `text` makes of it.
    func show<Value>(
        _ answer: DaemonSession.Answer<Value>, on terminal: Terminal = .standard, _ text: (Value, Terminal) -> [String]
    ) {
        let lines = output.json ? [answer.raw.text] : text(answer.value, terminal)
        for line in lines { terminal.output.line(line) }
    }
}
