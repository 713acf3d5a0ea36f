import ArgumentParser

/// `xferctl watch`: shows the running, the waiting and the last ended tasks, and updates the view.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch what runs, waits and ended last.",
        discussion: "On a terminal a view that fills the screen, q quits; when piped, a line for every event.")

    @OptionGroup(title: "Daemon") var connection: ConnectionOptions

    func run() throws {
        let terminal = Terminal.standard
        guard terminal.isInteractive else { return try EventStream(options: connection, isRaw: false).follow() }
        var watcher = try QueueWatcher(options: connection, terminal: terminal)
        try watcher.run()
    }
}
