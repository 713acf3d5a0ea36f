import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl batch`: the `batch.*` methods.
struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Add many URLs as one batch, and see how far it is.",
        discussion: """
            A batch is added in one step, has a concurrency and a group of its own, starts after everything of higher \
            priority, and is counted as a whole. `xferctl group pause batch-4` holds batch 4 back, `xferctl list --group \
            batch-4` shows its tasks.
            """,
        subcommands: [Add.self, Get.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a list of URLs as a batch.",
            discussion: """
                A line that is refused is reported with its number and stops nothing; then the exit status is 3. With \
                --atomic it refuses the whole batch. Priority is low unless --priority says otherwise.

                  xferctl batch add -d ~/images -i urls.txt
                  xferctl batch add -i - --max-active 2 --wait < urls.txt
                """)

        @Option(
            name: [.customShort("i"), .customLong("input-file")],
            help: ArgumentHelp(
                "Read URLs from this file, one per line, # begins a comment; - is standard input.", valueName: "file"),
            completion: .file())
        var inputFile: String

        @Option(help: ArgumentHelp("Most of its transfers at once (default: 3).", valueName: "count"))
        var maxActive: Int?

        @Flag(help: "Add all or nothing.")
        var atomic = false

        @OptionGroup(title: "Destination") var destination: DestinationOptions
        @OptionGroup(title: "Content") var content: ContentOptions
        @OptionGroup(title: "Request") var request: RequestOptions
        @OptionGroup(title: "Cache") var cache: CacheOptions
        @OptionGroup(title: "Access") var access: AccessOptions
        @OptionGroup(title: "Scheduling") var scheduling: SchedulingOptions

        @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until all have ended.")
        var wait = false

        @Option(help: ArgumentHelp("With --wait: wait at most so long.", valueName: "time"))
        var timeout: TimeSpan?

        @OptionGroup var options: VerbOptions

        mutating func validate() throws {
            if timeout != nil && !wait { throw ValidationError("--timeout needs --wait.") }
            if let maxActive, maxActive < 1 { throw ValidationError("--max-active: expected at least 1.") }
            if scheduling.group != nil { throw ValidationError("--group: a batch is a group of its own.") }
            if scheduling.slot != nil { throw ValidationError("--slot holds one task at a time.") }
            if destination.output != nil { throw ValidationError("-o names one file; use -d for a directory.") }
            let readers = [
                inputFile, access.passwordFile ?? "", access.bearerFile ?? "",
                content.jsonBody == "@-" ? "-" : "", content.data.contains("@-") ? "-" : "",
            ].filter { $0 == "-" }
            if readers.count > 1 { throw ValidationError("Standard input can be read for one of them only.") }
        }

        func run() throws {
            let entries = try URLList.entries(inputFile)
            guard entries.count <= TaskLimits.batchSize else {
                throw CommandFailure.usage(
                    "-i: \(entries.count) URLs, but a batch has at most \(TaskLimits.batchSize)")
            }
            let answer = try options.open().call(BatchAdd.self, try params(entries))
            options.show(answer) { result, _ in [BatchText.added(result)] }
            let refused = answer.value.errors
            for refusal in refused { Output.error.line("xferctl: \(Self.words(refusal, entries))") }
            var status = ExitStatus.done
            if wait {
                var waiter = try BatchWaiter(answer.value.batch.id, options, timeout: timeout, isDaemonKnown: true)
                status = try waiter.run()
            }
            guard refused.isEmpty else { throw CommandFailure(.refused) }
            if status != .done { throw CommandFailure(status) }
        }

        private func params(_ entries: [URLList.Entry]) throws -> BatchAdd.Params {
            var scheduling = scheduling
            let clientKey = scheduling.clientKey
            scheduling.clientKey = nil
            let template = try TaskTemplate(
                AddOptionSet(
                    destination: destination, content: content, request: request, cache: cache, access: access,
                    scheduling: scheduling), count: entries.count)
            var params = BatchAdd.Params()
            params.tasks = entries.map { BatchEntry(template.task($0.url).firstURL) }
            params.options = template.task("").wire.objectValue ?? JSONObject()
            params.options["url"] = nil
            if let maxActive { params.maxActive = maxActive }
            params.atomic = atomic
            params.clientKey = clientKey
            guard params.wire.text.utf8.count <= TaskBatches.largestMessage else {
                throw CommandFailure.usage("-i: the list is too long for one batch; split it")
            }
            return params
        }

        /// The daemon's words with the line in place of `tasks[N]`.
        private static func words(_ refusal: BatchRefusal, _ entries: [URLList.Entry]) -> String {
            let place = "tasks[\(refusal.index)]"
            var text = SafeText.sanitised(refusal.message)
            for prefix in ["\(place).url: ", "\(place): "] where text.hasPrefix(prefix) {
                text.removeFirst(prefix.count)
            }
            guard entries.indices.contains(refusal.index) else { return "\(place): \(text)" }
            let entry = entries[refusal.index]
            return "line \(entry.line): \(SafeText.sanitised(Redaction.url(entry.url))): \(text)"
        }
    }

    struct Get: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show how far a batch is.",
            discussion: "With --wait exits with 0 when all members completed, 1 when one failed, 5 when time is up.")

        @Argument(help: "The batch's id.", transform: BatchID.argument)
        var id: BatchID

        @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until all have ended.")
        var wait = false

        @Option(help: ArgumentHelp("With --wait: wait at most so long.", valueName: "time"))
        var timeout: TimeSpan?

        @OptionGroup var options: VerbOptions

        mutating func validate() throws {
            if timeout != nil && !wait { throw ValidationError("--timeout needs --wait.") }
        }

        func run() throws {
            guard wait else {
                let answer = try options.open().call(BatchGet.self, BatchGet.Params(id: id))
                return options.show(answer) { result, terminal in BatchText(style: terminal.style).lines(result.batch) }
            }
            var waiter = try BatchWaiter(id, options, timeout: timeout)
            let status = try waiter.run()
            if status != .done { throw CommandFailure(status) }
        }
    }
}

extension BatchID {
    /// Reads an argument, with or without #.
    fileprivate static func argument(_ text: String) throws -> BatchID {
        guard let number = Int64(text.hasPrefix("#") ? text.dropFirst() : text[...], radix: 10), number > 0 else {
            throw ValidationError("expected a batch's id, an integer from 1")
        }
        return BatchID(number)
    }
}

/// Batches in words.
struct BatchText: Sendable {
    let style: Style

    func lines(_ batch: BatchRecord) -> [String] {
        [
            entry("batch", "\(batch.id)"), entry("group", SafeText.sanitised(batch.group)),
            entry("finished", Self.progress(batch)), entry("tasks", QueueText(style: style).counts(batch.counts)),
            entry("completed", batch.completedAt.map { TimeText.local($0) } ?? "not yet"),
        ]
    }

    /// What was added: `batch 4: 3 of 5 entries, group batch-4`.
    static func added(_ result: BatchAdd.Result) -> String {
        let exists = result.existing == true ? " (it was there already)" : ""
        let refused = result.errors.isEmpty ? "" : ", \(result.errors.count) refused"
        return "batch \(result.batch.id): \(result.batch.total) tasks\(refused)\(exists)"
    }

    /// `5 of 5, 2 failed`.
    static func progress(_ batch: BatchRecord) -> String {
        "\(batch.finished) of \(batch.total)" + (batch.skipped > 0 ? ", \(batch.skipped) failed" : "")
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
