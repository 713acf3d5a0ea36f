import ArgumentParser
import XferModel

/// `xferctl notify`: notifies of the ends of tasks, until Ctrl-C.
struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Report tasks that end, on the desktop and by the terminal's bell.",
        discussion: """
            Runs until Ctrl-C, prints a line for every task that ends, and shows it with notify-send where that is \
            installed. On a terminal the bell rings. Tasks that end while a notification is being shown are reported \
            together. It survives restarts of the daemon, and reports nothing twice. With --since it begins with \
            the events after that number; Ctrl-C prints the number to continue with.
            """)

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    @Option(
        help: ArgumentHelp("Begin after the event with this number; 0 is the oldest stored event.", valueName: "seq"),
        transform: Int64.eventNumber)
    var since: Int64?

    @OptionGroup var options: VerbOptions

    /// The states in which the user is notified of a task.
    private static let ends = Set(TaskState.allCases.filter { $0.isTerminal || $0 == .staged })

    mutating func validate() throws {
        if let since, since < 0 { throw ValidationError("--since: expected 0 or more.") }
        if let state = filters.states.first(where: { !Self.ends.contains($0) }) {
            let known = TaskState.allCases.filter(Self.ends.contains).map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--state \(state.rawValue): expected a state that is an end: \(known).")
        }
    }

    func run() throws {
        try EndStream(options: options, filters: filters, since: since).follow()
    }
}
