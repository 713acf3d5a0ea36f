import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl wait`: follows tasks until they have ended.
struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until tasks have ended, showing progress.",
        discussion: """
            Exits with 0 when all completed, 1 when one failed or was cancelled, 5 when time is up. \
            A restart of the daemon does not end the waiting, and Ctrl-C does not end the transfers.
            """)

    @Argument(help: ArgumentHelp("Ids of tasks.", valueName: "id"))
    var ids: [TaskIDArgument]

    @Option(help: ArgumentHelp("Wait at most so long, such as 90s or 2h.", valueName: "time"))
    var timeout: TimeSpan?

    @OptionGroup var options: VerbOptions

    func run() throws {
        let status = try Self.wait(for: ids.map(\.id), timeout: timeout, options: options)
        if status != .done { throw CommandFailure(status) }
    }

    /// Waits until the tasks have ended. With `--json` it then prints the answer of `task.wait`, also after a timeout.
    ///
    /// - Parameters:
    ///   - isDaemonKnown: whether the daemon has just answered. Then, if it cannot be reached, it is restarting, and
    ///     the command waits for it.
    ///   - terminal: where progress is shown.
    static func wait(
        for ids: [TaskID], timeout: TimeSpan?, options: VerbOptions, isDaemonKnown: Bool = false,
        on terminal: Terminal = .standard
    ) throws(CommandFailure) -> ExitStatus {
        guard !ids.isEmpty else { return .done }
        var waiter = try TaskWaiter(
            ids.map(\.rawValue), options: options.connection, timeout: timeout.map { .seconds($0.seconds) },
            isQuiet: options.output.json, isDaemonKnown: isDaemonKnown, terminal: terminal)
        guard options.output.json else { return try waiter.run() }
        do throws(CommandFailure) {
            let status = try waiter.run()
            printAnswer(try waiter.daemon.call(TaskWait.name, params(ids)))
            return status
        } catch {
            if error.status == .timedOut { printAnswer(try waiter.daemon.call(TaskWait.name, params(ids))) }
            throw error
        }
    }

    /// The timeout is 0 because the waiting is over: the call only returns the present state of the tasks.
    private static func params(_ ids: [TaskID]) -> JSONValue { TaskWait.Params(ids: ids, timeout: 0).wire }

    private static func printAnswer(_ answer: JSONValue) { Output.standard.line(answer.text) }
}
