import ArgumentParser

/// `xferctl watch`: the whole queue, live.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch the whole queue, and command it by keys.",
        discussion: """
            Fills the screen of a terminal: running tasks, then the queue in its order, waiting tasks with their reasons, \
            and ended ones. ? shows the keys, q quits; the transfers continue. When piped, or with --plain, a line for \
            every event.
            """)

    @Flag(help: "Print a line for every event, for screen readers and logs.")
    var plain = false

    @OptionGroup(title: "Daemon") var connection: ConnectionOptions

    func run() throws {
        let terminal = Terminal.standard
        guard terminal.isInteractive, !plain else {
            return try EventStream(options: connection, isRaw: false).follow()
        }
        var watcher = try QueueWatcher(options: connection, terminal: terminal)
        watcher.run()
    }
}
