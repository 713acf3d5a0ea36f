import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl add`: hands URLs to the daemon with `task.add`.
struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Hand downloads, uploads and requests to the daemon.",
        discussion: """
            When this returns, the daemon has the tasks on disk: they survive crashes and power cuts. \
            Without -d, -o and -O files go to the daemon's own download directory. With --wait the response of a \
            single request of kind data is shown when it has ended.

              xferctl add https://example.org/file.iso
              xferctl add --wait -o file.iso --checksum sha-256=HEX https://example.org/file.iso
              xferctl add -d ~/mirror -i urls.txt
              xferctl add https://a.example/file.iso --mirror https://b.example/file.iso
              xferctl add -T backup.tar --upload tus https://example.org/files/
              xferctl add --json-body '{"event": "push"}' --client-key push-17 https://example.org/hook
            """)

    @Argument(
        help: ArgumentHelp("What to ask for: http or https URLs, or relative ones with --profile.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            "Read URLs from this file, one per line, # begins a comment; - is standard input.", valueName: "file"),
        completion: .file())
    var inputFile: String?

    @Option(
        name: .customLong("mirror"),
        help: ArgumentHelp(
            "Another URL for the same bytes, asked when those before it cannot send them; may be repeated.",
            valueName: "url"))
    var mirrors: [String] = []

    @OptionGroup(title: "Destination") var destination: DestinationOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Scheduling") var scheduling: SchedulingOptions

    @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until they have ended, showing progress.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: wait at most so long.", valueName: "time"))
    var timeout: TimeSpan?

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        guard !urls.isEmpty || inputFile != nil else {
            throw ValidationError("What to transfer? Give URLs or -i FILE.")
        }
        if timeout != nil && !wait { throw ValidationError("--timeout needs --wait.") }
        let readers = [
            ("-i", inputFile == "-"), ("--password-file", access.passwordFile == "-"),
            ("--bearer-file", access.bearerFile == "-"), ("--json-body", content.jsonBody == "@-"),
            ("--data", content.data.contains("@-")),
        ].filter(\.1).map(\.0)
        if readers.count > 1 {
            throw ValidationError("\(readers[0]) and \(readers[1]) cannot both read standard input.")
        }
        if content.dataBinary == "@-" { throw ValidationError("--data-binary streams a file, not standard input.") }
    }

    func run() throws {
        let all = urls + (try inputFile.map { path throws(CommandFailure) in try URLList.read(path) } ?? [])
        let template = try TaskTemplate(
            AddOptionSet(
                destination: destination, content: content, request: request, cache: cache, access: access,
                scheduling: scheduling),
            count: all.count, mirrors: mirrors)
        // As curl would: the response of a single request that is waited for goes to standard output, and nothing else.
        let showsResponse =
            wait && all.count == 1 && template.task("").kind == .data && !options.output.json
        let terminal = showsResponse ? Terminal.error : .standard
        let ids = try add(all.map { template.task($0) }, on: terminal)
        guard wait else { return }
        let status = try WaitCommand.wait(
            for: ids, timeout: timeout, options: options, isDaemonKnown: true, on: terminal)
        if status != .done { throw CommandFailure(status) }
        if showsResponse, let id = ids.first { try showResponse(of: id) }
    }

    private func showResponse(of id: TaskID) throws {
        let daemon = try options.open()
        try ResultCommand.write(try daemon.call(TaskResult.self, TaskResult.Params(id: id)).value, of: id, from: daemon)
    }

    private func add(_ tasks: [NewTask], on terminal: Terminal) throws(CommandFailure) -> [TaskID] {
        let daemon = try options.open()
        guard tasks.count > 1 || inputFile != nil else {
            return try addOne(tasks[0], daemon, on: terminal)
        }
        var added = TaskAdd.Many()
        for batch in TaskBatches(tasks) {
            do throws(CommandFailure) {
                let answer = try daemon.call(TaskAdd.self, .many(Array(batch)))
                guard case .many(let many) = answer.value else { continue }
                added.ids += many.ids
                added.existing += many.existing.map { batch.startIndex + $0 }
            } catch {
                if !added.ids.isEmpty { show(added, of: tasks, on: terminal) }
                throw error.naming(batch.startIndex, in: tasks, added: added.ids.count)
            }
        }
        show(added, of: tasks, on: terminal)
        return added.ids
    }

    /// All calls together are one answer.
    private func show(_ added: TaskAdd.Many, of tasks: [NewTask], on terminal: Terminal) {
        options.show(DaemonSession.Answer(raw: added.wire, value: added), on: terminal) { added, _ in
            AddText.lines(added, batch: tasks[...])
        }
    }

    private func addOne(
        _ task: NewTask, _ daemon: DaemonSession, on terminal: Terminal
    ) throws(CommandFailure) -> [TaskID] {
        let answer = try daemon.call(TaskAdd.self, .one(task))
        guard case .one(let one) = answer.value else { return [] }
        options.show(answer, on: terminal) { _, terminal in AddText.lines(one, style: terminal.style) }
        return [one.task.id]
    }
}

/// What was added, in words.
enum AddText {
    static func lines(_ one: TaskAdd.One, style: Style) -> [String] {
        let glance = TaskSummary(one.task)
        let state = style(StateStyle.attribute(glance.state), SafeText.sanitised(glance.state))
        let exists = one.existing == true ? " (it was there already)" : ""
        return ["#\(glance.id) \(state): \(SafeText.sanitised(glance.name))\(exists)"]
    }

    /// A few are listed, many are summed up.
    static func lines(_ many: TaskAdd.Many, batch: ArraySlice<NewTask>) -> [String] {
        let existing = Set(many.existing)
        guard many.ids.count > 20 else {
            return zip(many.ids, batch).enumerated().map { index, pair in
                let exists = existing.contains(index) ? " (it was there already)" : ""
                return "#\(pair.0) \(SafeText.sanitised(Redaction.url(pair.1.firstURL)))\(exists)"
            }
        }
        let range = "#\(many.ids.min()?.description ?? "") to #\(many.ids.max()?.description ?? "")"
        let exists = existing.isEmpty ? "" : ", \(existing.count) of them were there already"
        return ["\(many.ids.count) tasks: \(range)\(exists)"]
    }
}
