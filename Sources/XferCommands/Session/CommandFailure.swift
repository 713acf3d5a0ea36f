/// Ends a command: what to say on standard error and the status to exit with.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let status: ExitStatus
    /// Without program name and final line break; empty when everything has been said.
    let message: String

    init(_ status: ExitStatus, _ message: String = "") {
        self.status = status
        self.message = message
    }

    var description: String { message }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }
}

/// The exit statuses of `xferctl`.
enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    case taskFailed = 1
    case usage = 2
    case refused = 3
    case noDaemon = 4
    case timedOut = 5
    case interrupted = 130

    /// For the manual.
    var meaning: String {
        switch self {
        case .done: "Done, or there was nothing to do; the output says why."
        case .taskFailed:
            "A task that was waited for failed or was cancelled, a test failed, or the output could not be written."
        case .usage: "The command line, or a file that it names, is wrong; nothing was done."
        case .refused: "The daemon refused, or knows nothing by an id or name that was given; the rest was done."
        case .noDaemon: "No daemon answered; standard error names the sockets that were tried."
        case .timedOut: "Waiting took longer than allowed; the transfers go on."
        case .interrupted: "Interrupted by Ctrl-C; the transfers go on."
        }
    }
}
