import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl add`: hands URLs to the daemon with `task.add`.
struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Hand downloads to the daemon.",
        discussion: """
            When this returns, the daemon has the tasks on disk: they survive crashes and power cuts. \
            Without -d, -o and -O files go to the daemon's own download directory.

              xferctl add https://example.org/file.iso
              xferctl add --wait -o file.iso --checksum sha-256=HEX https://example.org/file.iso
              xferctl add -d ~/mirror -i urls.txt
            """)

    @Argument(help: ArgumentHelp("What to download: http or https URLs.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            "Read URLs from this file, one per line, # begins a comment; - is standard input.", valueName: "file"),
        completion: .file())
    var inputFile: String?

    @OptionGroup(title: "Destination") var destination: DestinationOptions
    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Scheduling") var scheduling: SchedulingOptions

    @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until they have ended, showing progress.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: wait at most so long.", valueName: "time"))
    var timeout: TimeSpan?

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        guard !urls.isEmpty || inputFile != nil else {
            throw ValidationError("What to download? Give URLs or -i FILE.")
        }
        if timeout != nil && !wait { throw ValidationError("--timeout needs --wait.") }
        if inputFile == "-" && request.passwordFile == "-" {
            throw ValidationError("-i and --password-file cannot both read standard input.")
        }
    }

    func run() throws {
        let all = urls + (try inputFile.map { path throws(CommandFailure) in try URLList.read(path) } ?? [])
        let template = try TaskTemplate(
            destination: destination, request: request, scheduling: scheduling, count: all.count)
        let ids = try add(all.map { template.task($0) })
        guard wait else { return }
        let status = try WaitCommand.wait(for: ids, timeout: timeout, options: options, isDaemonKnown: true)
        if status != .done { throw CommandFailure(status) }
    }

    private func add(_ tasks: [NewTask]) throws(CommandFailure) -> [TaskID] {
        let daemon = try options.open()
        guard tasks.count > 1 || inputFile != nil else {
            return try addOne(tasks[0], daemon)
        }
        var ids: [TaskID] = []
        for batch in TaskBatches(tasks) {
            let answer: DaemonSession.Answer<TaskAdd.Result>
            do throws(CommandFailure) {
                answer = try daemon.call(TaskAdd.self, .many(Array(batch)))
            } catch {
                throw error.naming(batch.startIndex, in: tasks, added: ids.count)
            }
            guard case .many(let many) = answer.value else { continue }
            ids += many.ids
            options.show(answer) { _, _ in AddText.lines(many, batch: batch) }
        }
        return ids
    }

    private func addOne(_ task: NewTask, _ daemon: DaemonSession) throws(CommandFailure) -> [TaskID] {
        let answer = try daemon.call(TaskAdd.self, .one(task))
        guard case .one(let one) = answer.value else { return [] }
        options.show(answer) { _, terminal in AddText.lines(one, style: terminal.style) }
        return [one.task.id]
    }
}
