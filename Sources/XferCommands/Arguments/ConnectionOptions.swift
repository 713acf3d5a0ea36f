import ArgumentParser

/// Chooses the daemon to talk to; every verb has these.
struct ConnectionOptions: ParsableArguments {
    @Flag(name: .customLong("user"), help: "Talk to your own daemon only.")
    var isUser = false

    @Flag(name: .customLong("system"), help: "Talk to the system's daemon only.")
    var isSystem = false

    @Option(help: ArgumentHelp("Talk to the daemon at this Unix socket.", valueName: "path"), completion: .file())
    var socket: String?

    mutating func validate() throws {
        let chosen = [isUser, isSystem, socket != nil].filter(\.self).count
        guard chosen <= 1 else { throw ValidationError("--user, --system and --socket exclude each other.") }
    }
}

/// Raw answers instead of text for people.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print exactly what the daemon answered, as JSON lines.")
    var json = false
}
