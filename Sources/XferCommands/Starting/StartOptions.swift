import ArgumentParser

/// The choice between starting a daemon and not, for commands that add tasks.
struct StartOptions: ParsableArguments {
    @Flag(name: .customLong("no-start"), help: "Start no daemon of your own when none runs.")
    var isForbidden = false
}

extension VerbOptions {
    /// Connects; starts a daemon of the user's if none runs and that is allowed.
    func open(_ start: StartOptions) throws(CommandFailure) -> DaemonSession {
        try DaemonSession.open(connection.instance(), mayStart: !start.isForbidden)
    }
}
