import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl wait`: follows tasks until they have ended.
struct WaitCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until tasks have ended, showing progress.",
        discussion: """
            Exits with 0 when all completed, 1 when one failed or was cancelled, 5 when time is up. \
            A restart of the daemon does not end the waiting, and Ctrl-C does not end the transfers. Filters and --all \
            mean the unfinished tasks that match at the call; tasks that are added later are not waited for. --group \
            also reports the failed tasks of the group, until they are retried or removed: a task may fail before \
            the call.
            """)
    static let states = Set<TaskState>.unfinished

    @OptionGroup var selection: SelectionOptions

    @Option(
        help: ArgumentHelp("Wait at most this long, such as 90s or 2h.", valueName: "time"),
        transform: TimeSpan.argument)
    var timeout: TimeSpan?

    @Flag(help: "Notify at the end: on the desktop, and by the terminal's bell.")
    var notify = false

    @OptionGroup var verbosity: VerbosityOptions
    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        try selection.check()
    }

    func run() throws {
        let ids = try selectedIDs()
        let result = try Self.wait(for: ids, timeout: timeout, options: options, verbosity: verbosity, notifies: notify)
        if result.status != .done { throw CommandFailure(result.status) }
    }

    /// The selected ids. Prints facts about matching tasks that a person may not expect to standard error.
    private func selectedIDs() throws(CommandFailure) -> [TaskID] {
        // The waiting itself finds out which of these there are.
        if !selection.ids.isEmpty, selection.ids.allSatisfy(\.hasOnlySingles) {
            return selection.ids.flatMap(\.singles)
        }
        let daemon = try options.open()
        let selected = SelectedTasks(options: selection, daemon: daemon)
        // A script adds the tasks of a group, then waits for it: one of them may have failed before.
        let countsFailed = !selection.filters.group.isEmpty
        let ids = try selected.ids(in: countsFailed ? Self.states.union([.failed]) : Self.states)
        guard selection.ids.isEmpty else { return ids }
        if ids.isEmpty {
            options.show(
                TaskWait.Result(tasks: [], timedOut: false).wire,
                verbosity.quiet
                    ? [] : ["nothing to wait for: \(SelectionReason(selection, daemon).noMatch(in: Self.states))"])
        } else if selection.filters.states.isEmpty {
            let paused = try selected.ids(in: [.paused]).count
            if paused > 0 {
                let verb = paused == 1 ? "is" : "are"
                Output.error.line(
                    "xferctl: \(paused) of them \(verb) paused and will not end before \(SuggestedCommand.text("resume"))"
                )
            }
        }
        return ids
    }

    /// The end of a wait.
    struct Result {
        let status: ExitStatus
        /// The tasks as they are known; those that were removed are left out.
        let tasks: [TaskSummary]
    }

    /// Waits, and for `--json` prints the result of `task.wait` at the end.
    ///
    /// - Parameters:
    ///   - added: the tasks that were just added.
    ///   - verbosity: the amount of text: all, or failures only. `--json` prints its document either way.
    ///   - isDaemonKnown: true if the daemon has just answered. Then a lost connection is taken for a restart, and the
    ///     wait continues.
    ///   - readsStaged: true if staged tasks are read afterwards.
    ///   - notifies: true if the user is notified at the end.
    ///   - terminal: the terminal that shows the progress.
    ///   - errors: the refused lines of a list, for the document of `--json`.
    static func wait(
        for ids: [TaskID], added: AddedTasks? = nil, timeout: TimeSpan?, options: VerbOptions,
        verbosity: VerbosityOptions,
        isDaemonKnown: Bool = false, readsStaged: Bool = false, notifies: Bool = false, signals: SignalPipe? = nil,
        on terminal: Terminal = .standard, errors: JSONValue? = nil
    ) throws(CommandFailure) -> Result {
        guard !ids.isEmpty else { return Result(status: .done, tasks: []) }
        var notifier = Notifier.requested(notifies)
        var waiter = try TaskWaiter(
            ids.map(\.rawValue), added: added, options: options.connection,
            timeout: timeout.map { .seconds($0.seconds) },
            verbosity: options.output.json ? .nothing : verbosity.quiet ? .failures : .everything,
            isDaemonKnown: isDaemonKnown,
            readsStaged: readsStaged, signals: signals, terminal: terminal)
        do throws(CommandFailure) {
            let status = try run(&waiter, ids, options, errors)
            notifier?.deliver(waiter.note)
            return Result(status: status, tasks: waiter.tasks)
        } catch {
            notifier?.deliver(error)
            throw error
        }
    }

    private static func run(
        _ waiter: inout TaskWaiter, _ ids: [TaskID], _ options: VerbOptions, _ errors: JSONValue?
    ) throws(CommandFailure) -> ExitStatus {
        guard options.output.json else { return try waiter.run() }
        do throws(CommandFailure) {
            let status = try waiter.run()
            try printAnswer(waiter.daemon, ids, errors)
            return status
        } catch {
            if error.status == .timedOut { try printAnswer(waiter.daemon, ids, errors) }
            throw error
        }
    }

    /// Prints the state of the tasks after all events that were waited for. The answers of several calls are joined
    /// into one document, because one call accepts a limited number of ids.
    private static func printAnswer(
        _ daemon: DaemonSession, _ ids: [TaskID], _ errors: JSONValue?
    ) throws(CommandFailure) {
        var tasks: [JSONValue] = []
        var document = JSONObject()
        var missing: [TaskID] = []
        for start in stride(from: 0, to: ids.count, by: TaskLimits.batchSize) {
            var part = Array(ids[start..<min(start + TaskLimits.batchSize, ids.count)])
            // One answer has as many tasks as fit, and names the others.
            while !part.isEmpty {
                let answer = try daemon.call(TaskWait.self, TaskWait.Params(ids: part, timeout: 0))
                tasks += answer.raw["tasks"]?.arrayValue ?? []
                missing += answer.value.missing ?? []
                if document["timed_out"] != true { document = answer.raw.objectValue ?? JSONObject() }
                let omitted = answer.value.omitted ?? []
                part = omitted.count < part.count ? omitted : []
            }
        }
        document["tasks"] = .array(tasks)
        document["omitted"] = nil
        document["errors"] = errors
        document["missing"] = missing.isEmpty ? nil : .array(missing.map { .integer($0.rawValue) })
        Output.standard.document(JSONValue.object(document))
    }
}
