/// Ends a command: the text for standard error and the exit status.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let status: ExitStatus
    /// The text without program name and final line break; empty when everything was printed already.
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

    /// The meaning, for the manual.
    var meaning: String {
        switch self {
        case .done: "Done, or there was nothing to do; the output says why."
        case .taskFailed:
            "A task that was waited for failed or was cancelled, a test failed, or the output could not be written."
        case .usage: "The command line, or a file given with it, is wrong; nothing was done."
        case .refused: "The daemon refused, also a token; or an id or a name is unknown; the rest was done."
        case .noDaemon: "No daemon answered; standard error lists the sockets that were tried."
        case .timedOut: "Waiting took longer than allowed; the transfers continue."
        case .interrupted: "Interrupted by Ctrl-C; the transfers continue."
        }
    }
}
