import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl batch`: the `batch.*` methods.
struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Add many URLs as one batch, and show the progress of batches.",
        discussion: """
            A batch is added in one step, has a concurrency and a group of its own, starts after everything of higher \
            priority, and is counted as a whole. `xferctl group pause batch-4` pauses batch 4, `xferctl list --group \
            batch-4` shows its tasks.
            """,
        subcommands: [Add.self, List.self, Show.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a list of URLs as a batch.",
            discussion: """
                The file has one URL a line, or mirrors with tabs between, and aria2's options below them, as that of \
                `xferctl add -i`. A line that is refused is reported with its number and does not stop the others; \
                then the exit status is 3. With --atomic it refuses the whole batch. Priority is low unless --priority \
                is given. --checksums gives the files their digests, and without -i adds all of the list.

                  xferctl batch add -d ~/images -i urls.txt
                  xferctl batch add -i - --max-active 2 --wait < urls.txt
                """)

        @OptionGroup var input: InputFileOption

        @Option(
            help: ArgumentHelp("Highest number of its transfers at once (default: 3).", valueName: "count"),
            transform: Int.integer)
        var maxActive: Int?

        @Flag(help: "Add all or nothing.")
        var atomic = false

        @OptionGroup(title: "Destination") var checksums: ChecksumOptions
        @OptionGroup(title: "Destination") var destination: DestinationOptions
        @OptionGroup(title: "Content") var content: ContentOptions
        @OptionGroup(title: "Request") var request: RequestOptions
        @OptionGroup(title: "Request") var response: ResponseOptions
        @OptionGroup(title: "Cache") var cache: CacheOptions
        @OptionGroup(title: "Access") var session: SessionOptions
        @OptionGroup(title: "Access") var access: AccessOptions
        @OptionGroup(title: "Scheduling") var scheduling: SchedulingOptions

        // Options of `add` that a batch cannot have: their refusal says why.
        @OptionGroup(visibility: .hidden) var file: FileOptions
        @OptionGroup(visibility: .hidden) var place: PlaceOptions

        @OptionGroup var waiting: WaitOptions
        @OptionGroup var start: StartOptions
        @OptionGroup var verbosity: VerbosityOptions
        @OptionGroup var options: VerbOptions

        mutating func validate() throws {
            try waiting.check()
            guard input.file != nil || !checksums.lists.isEmpty else {
                throw ValidationError("Nothing to transfer: give -i FILE, or --checksums.")
            }
            try checksums.check(hasURLs: input.file != nil, beside: destination.digest.checksum)
            if let maxActive, maxActive < 1 { throw ValidationError("--max-active: expected at least 1.") }
            if place.group != nil { throw ValidationError("--group: a batch is a group of its own.") }
            if place.slot != nil { throw ValidationError("--slot: a slot has one task, a batch has many.") }
            if file.isStandardOutput { throw ValidationError("-o - takes one URL: use `xferctl add`.") }
            if file.output != nil { throw ValidationError("-o is for one file; use -d for a directory.") }
            try chosen.checkStandardInput(besides: input.file)
        }

        private var chosen: AddOptionSet {
            AddOptionSet(
                destination: destination, content: content, request: request, response: response, cache: cache,
                session: session, access: access, scheduling: scheduling)
        }

        func run() throws {
            let read = try input.file.map { path throws(CommandFailure) in try InputList.read(path) }
            let template = try template(count: read?.entries.count ?? 0)
            let list = try withDigests(read, template)
            var refused = list.refused
            var tasks = template.tasks(of: list, refused: &refused)
            guard tasks.count <= TaskLimits.batchSize else {
                throw CommandFailure.usage(
                    "-i: \(tasks.count) URLs, but a batch has at most \(TaskLimits.batchSize)")
            }
            for warning in InputList.Remark.words(tasks.flatMap(\.warnings)) {
                Output.error.line("xferctl: \(warning)")
            }
            guard !tasks.isEmpty, !atomic || refused.isEmpty else {
                Self.report(refused)
                throw CommandFailure(.refused, "nothing was added")
            }
            if atomic {
                try DestinationClash.check(tasks)
            } else {
                DestinationClash.removeLater(from: &tasks, refused: &refused)
            }
            if !verbosity.quiet { ExistingFiles.report(tasks.map(\.task), options.connection) }
            let answer = try add(tasks, template)
            let problems = answer.value.errors
            refused += problems.compactMap { Self.remark($0, tasks) }
            var document = answer.raw.objectValue ?? JSONObject()
            if !options.output.json, !verbosity.quiet {
                Output.standard.line(BatchText.added(answer.value, refused: refused.count))
            }
            Self.report(refused)
            var status = ExitStatus.done
            if waiting.isOn {
                do throws(CommandFailure) {
                    status = try BatchWaiter.wait(
                        for: answer.value.batch.id, options, timeout: waiting.bounds.timeout,
                        notifies: waiting.bounds.notify, isDaemonKnown: true, isQuiet: verbosity.quiet
                    ) { document["batch"] = $0.raw["batch"] }
                } catch {
                    if options.output.json { Output.standard.document(JSONValue.object(document)) }
                    throw error
                }
            }
            if options.output.json { Output.standard.document(JSONValue.object(document)) }
            if status != .done { throw CommandFailure(status) }
            guard refused.isEmpty else { throw CommandFailure(.refused) }
        }

        /// The list of -i with the digests of --checksums, or all files that these have.
        private func withDigests(_ list: InputList?, _ template: TaskTemplate) throws -> InputList {
            let digests = try checksums.read {
                try FetchedText(daemon: options.open(start), task: template.task($0)).read()
            }
            guard var list else { return checksums.inputList(of: digests) }
            if !digests.isEmpty { list.demand(digests) }
            return list
        }

        private func template(count: Int) throws(CommandFailure) -> TaskTemplate {
            var chosen = chosen
            // The batch's own.
            chosen.scheduling.clientKey = nil
            return try TaskTemplate(chosen, count: count, paths: .current(for: options.connection))
        }

        private func add(
            _ tasks: [ListedTask], _ template: TaskTemplate
        ) throws(CommandFailure) -> DaemonSession.Answer<BatchAdd.Result> {
            var params = BatchAdd.Params()
            params.options = template.task("").wire.objectValue ?? JSONObject()
            params.options["url"] = nil
            params.tasks = tasks.map { Self.entry($0.task, beside: params.options) }
            if let maxActive { params.maxActive = maxActive }
            params.atomic = atomic
            params.clientKey = scheduling.clientKey
            guard params.wire.text.utf8.count <= TaskBatches.largestMessage else {
                throw CommandFailure.usage("-i: the list is too long for one batch; split it")
            }
            switch try options.open(start).attempt(BatchAdd.self, params) {
            case .success(let answer): return answer
            case .failure(let refusal): throw CommandFailure(.refused, refusal.words(tasks))
            }
        }

        /// The fields of an entry that differ from the shared ones; only its URL if there are none.
        private static func entry(_ task: NewTask, beside shared: JSONObject) -> BatchEntry {
            var entry = BatchEntry(task.firstURL)
            var own = JSONObject()
            for (name, value) in task.wire.objectValue?.members ?? [] where shared[name] != value { own[name] = value }
            if own.members.map(\.key) != ["url"] { entry.value = .object(own) }
            return entry
        }

        private static func remark(_ refusal: BatchRefusal, _ tasks: [ListedTask]) -> InputList.Remark? {
            guard tasks.indices.contains(refusal.index) else { return nil }
            let place = "tasks[\(refusal.index)]"
            var text = SafeText.sanitised(refusal.message)
            for prefix in ["\(place).", "\(place): "] where text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
            let path = refusal.data?.path.map { String($0.dropFirst(place.count).drop { $0 == "." }) }
            return tasks[refusal.index].remark(tasks.namingOther(in: text), path: path)
        }

        private static func report(_ refused: [InputList.Remark]) {
            for remark in refused.sorted(by: { $0.line ?? 0 < $1.line ?? 0 }) {
                Output.error.line("xferctl: \(remark.words)")
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List batches, the newest first: yours, or every user's for an operator.")

        @OptionGroup var pages: PageOptions
        @OptionGroup var options: VerbOptions

        func run() throws {
            let daemon = try options.open()
            try pages.show(BatchList.self, options, of: daemon) { batches, terminal in
                let figures = try MemberFigures.each(of: batches, members: \.total) { batch throws(CommandFailure) in
                    try MemberFigures.read(of: batch, daemon)
                }
                return BatchText(style: terminal.style).table(batches, figures, terminal)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the progress of a batch.",
            discussion: "With --wait exits with 0 when all members completed, 1 when one failed, 5 when time is up.",
            aliases: ["get"])

        @Argument(help: "The batch's id.", completion: .daemon(.batches), transform: BatchID.argument)
        var id: BatchID

        @OptionGroup var waiting: WaitOptions
        @OptionGroup var options: VerbOptions

        mutating func validate() throws {
            try waiting.check()
        }

        func run() throws {
            guard waiting.isOn else {
                let daemon = try options.open()
                let answer = try daemon.call(BatchGet.self, BatchGet.Params(id: id))
                let figures = options.output.json ? nil : try MemberFigures.read(of: answer.value.batch, daemon)
                return options.show(answer) { result, terminal in
                    BatchText(style: terminal.style).lines(result.batch, figures)
                }
            }
            let status = try BatchWaiter.wait(
                for: id, options, timeout: waiting.bounds.timeout, notifies: waiting.bounds.notify
            ) {
                if options.output.json { Output.standard.document($0.raw) }
            }
            if status != .done { throw CommandFailure(status) }
        }
    }
}

extension BatchID {
    /// Reads an argument, with or without #.
    static func argument(_ text: String) throws -> BatchID {
        guard let number = Int64(text.hasPrefix("#") ? text.dropFirst() : text[...], radix: 10), number > 0 else {
            throw ValidationError("expected a batch's id, such as 4 or #4")
        }
        return BatchID(number)
    }
}

/// The texts about batches.
struct BatchText: Sendable {
    let style: Style

    /// The table of batches.
    ///
    /// - Parameter figures: the figures of each batch, in order.
    func table(_ batches: [BatchRecord], _ figures: [MemberFigures?], _ terminal: Terminal) -> [String] {
        let counts = [
            Table.Column(title: "BATCH", alignment: .right), Table.Column(title: "OWNER", alignment: .right),
            Table.Column(title: "FINISHED", alignment: .right), Table.Column(title: "FAILED", alignment: .right),
            Table.Column(title: "RUNNING", alignment: .right),
        ]
        let times = [Table.Column(title: "ADDED"), Table.Column(title: "COMPLETED")]
        var table = Table(columns: counts + MemberFigures.columns + times)
        table.rows = zip(batches, figures).map { batch, figures in
            let counts = [
                Table.Cell("\(batch.id)"), Table.Cell("\(batch.owner)"),
                Table.Cell("\(batch.finished) of \(batch.total)"),
                Table.Cell("\(batch.skipped)", batch.skipped > 0 ? StateStyle.attribute("failed") : nil),
                Table.Cell("\(batch.counts.running)"),
            ]
            let times = [
                Table.Cell(TimeText.local(batch.createdAt)),
                Table.Cell(batch.completedAt.map { TimeText.local($0) } ?? "not yet"),
            ]
            return counts + MemberFigures.cells(figures) + times
        }
        return table.lines(on: terminal, orElse: "no batches")
    }

    func lines(_ batch: BatchRecord, _ figures: MemberFigures? = nil) -> [String] {
        [
            entry("batch", "\(batch.id)"), entry("group", SafeText.sanitised(batch.group)),
            entry("finished", Self.progress(batch)), entry("tasks", QueueText(style: style).counts(batch.counts)),
        ] + (figures?.lines ?? []).map { entry($0.name, $0.text) } + [
            entry("completed", batch.completedAt.map { TimeText.local($0) } ?? "not yet")
        ]
    }

    /// The text about a batch under way: `batch 4: 2 of 5, 12.0 MiB of 40.0 MiB, 3.0 MiB/s, 9s left`.
    static func line(_ batch: BatchRecord, _ figures: MemberFigures?) -> String {
        (["batch \(batch.id): \(progress(batch))"] + (figures?.lines ?? []).map(\.text)).joined(separator: ", ")
    }

    /// The text about an added batch: `batch 4: 3 tasks, 2 refused`.
    ///
    /// - Parameter refused: the number of the list's lines that did not become tasks.
    static func added(_ result: BatchAdd.Result, refused: Int) -> String {
        let exists = result.existing == true ? " (it existed already)" : ""
        let others = refused == 0 ? "" : ", \(refused) refused"
        return "batch \(result.batch.id): \(result.batch.total) tasks\(others)\(exists)"
    }

    /// The progress as text, such as `5 of 5, 2 failed`.
    static func progress(_ batch: BatchRecord) -> String {
        "\(batch.finished) of \(batch.total)" + (batch.skipped > 0 ? ", \(batch.skipped) failed" : "")
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
