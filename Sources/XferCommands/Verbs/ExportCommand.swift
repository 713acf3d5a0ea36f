import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl export`: tasks as a list that `xferctl add -i` and aria2c read.
struct ExportCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write tasks as a list for `xferctl add -i` and aria2c.",
        discussion: """
            Without ids and filters the unfinished tasks. What the format cannot express is reported on standard error. A \
            task with a secret in its URL or header fields is left out, and the exit status is 3, unless --show-secrets \
            is given: only its owner can do so, over the Unix socket. Logins are never written.

              xferctl export > queue.txt
              xferctl export --group isos | ssh nas xferctl add -i -
            """)
    static let states = Set<TaskState>.unfinished

    @Argument(
        help: ArgumentHelp("Ids of tasks: 7, 1,2, 1-5, or 7- up to the newest.", valueName: "id"),
        completion: .daemon(.tasks), transform: TaskIDsArgument.argument)
    var ids: [TaskIDsArgument] = []

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    @Flag(help: "Write URLs and header fields with their secrets.")
    var showSecrets = false

    @OptionGroup(title: "Daemon") var connection: ConnectionOptions

    mutating func validate() throws {
        guard ids.isEmpty || filters.filter == nil else { throw ValidationError("Ids and filters exclude each other.") }
    }

    func run() throws {
        let daemon = try DaemonSession.open(try connection.instance())
        let selected = SelectedTasks(named: ids, isAll: filters.filter == nil, filters: filters, daemon: daemon)
        var leftOut = 0
        // The tasks by what the list lacks of them, in the order of the first ones.
        var losses: [(text: String, ids: [TaskID])] = []
        for id in try selected.ids(in: Self.states) {
            var params = TaskGet.Params(id: id)
            if showSecrets { params.secrets = true }
            let record = try daemon.call(TaskGet.self, params).value.task
            do throws(ExportedTask.Refusal) {
                let entry = try ExportedTask(record, hasSecrets: showSecrets)
                for line in entry.lines { Output.standard.line(line) }
                guard !entry.lost.isEmpty else { continue }
                let start = entry.startsAtOnce ? "; it starts at once when the list is added without --paused" : ""
                let text = "not in the list: \(entry.lost.joined(separator: ", "))\(start)"
                if let index = losses.firstIndex(where: { $0.text == text }) {
                    losses[index].ids.append(id)
                } else {
                    losses.append((text, [id]))
                }
            } catch {
                leftOut += 1
                Output.error.line("xferctl: #\(id) is left out: \(error.reason)")
            }
        }
        for loss in losses {
            let others = loss.ids.count > 1 ? " and \(loss.ids.count - 1) more" : ""
            Output.error.line("xferctl: #\(loss.ids[0])\(others): \(loss.text)")
        }
        guard leftOut == 0 else {
            throw CommandFailure(.refused, leftOut == 1 ? "1 task was left out" : "\(leftOut) tasks were left out")
        }
    }
}
