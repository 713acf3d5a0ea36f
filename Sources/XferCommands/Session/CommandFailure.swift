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
