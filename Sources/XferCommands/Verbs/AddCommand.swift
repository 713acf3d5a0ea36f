import ArgumentParser
import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl add`: hands URLs to the daemon with `task.add`.
struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add downloads, uploads and requests.",
        discussion: """
            When this returns, the daemon has the tasks on disk: they survive crashes and power cuts. Without -d, -o \
            and -O files go to the daemon's own download directory, such as ~/Downloads; -O puts them into the working \
            directory, to which -o is relative. With --wait the response of a single request of \
            kind data is shown when it has ended. With -o - a download is written to standard output when it is complete and \
            verified, and the daemon keeps no file. --json prints \
            {"tasks": [...]}: the task of one URL, the ids of several; with --wait the tasks when they have ended.

            The file of -i has one URL a line, or mirrors of the same bytes with tabs between; # begins a comment. \
            Indented lines below it are aria2's options for it, such as out=NAME, dir=DIR, checksum=sha-256=HEX and \
            header=NAME: VALUE; out lies beneath -d, else in the daemon's own directory. A line that is refused is reported with its number and does not stop the others; then \
            the exit status is 3.

              xferctl add https://example.org/file.iso
              xferctl add --wait -o file.iso --checksum sha-256=HEX https://example.org/file.iso
              xferctl add -d ~/mirror -i urls.txt
              xferctl add -o - https://example.org/backup.tar.gz | tar xz
              xferctl add https://a.example/file.iso --mirror https://b.example/file.iso
              xferctl add -T backup.tar --upload tus https://example.org/files/
              xferctl add --json-body '{"event": "push"}' --client-key push-17 https://example.org/hook
            """)

    @Argument(
        help: ArgumentHelp("URLs to request: http or https, or relative ones with --profile.", valueName: "url"))
    var urls: [String] = []

    @OptionGroup var input: InputFileOption

    @Flag(help: "With -i: add all or nothing.")
    var atomic = false

    @Option(
        name: .customLong("mirror"),
        help: ArgumentHelp(
            "Another URL of the same bytes, used when those before it fail; may be repeated.",
            valueName: "url"))
    var mirrors: [String] = []

    @OptionGroup(title: "Destination") var checksums: ChecksumOptions
    @OptionGroup(title: "Destination") var file: FileOptions
    @OptionGroup(title: "Destination") var destination: DestinationOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var response: ResponseOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Access") var session: SessionOptions
    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Scheduling") var place: PlaceOptions
    @OptionGroup(title: "Scheduling") var scheduling: SchedulingOptions

    @Flag(name: [.customShort("w"), .customLong("wait")], help: "Wait until they have ended, showing progress.")
    var wait = false

    @OptionGroup var bounds: WaitBounds
    @OptionGroup var start: StartOptions
    @OptionGroup var verbosity: VerbosityOptions
    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        guard !urls.contains("") else {
            throw ValidationError("A URL is empty: an unset variable of a script, perhaps. Nothing was added.")
        }
        guard !urls.contains("-") else {
            throw ValidationError("- is no URL; -i - reads a list from standard input, -o - writes to standard output.")
        }
        if options.output.json, let refusal = OtherHabits.dataAsURL(urls) { throw ValidationError(refusal) }
        let refusal = OtherHabits.valueOfFlag(
            urls,
            [
                ("-c", destination.continues), ("-O", destination.usesRemoteName), ("-w", wait),
                ("--user", options.connection.isUser),
            ])
        if session.profile == nil, let refusal { throw ValidationError(refusal) }
        guard !urls.isEmpty || input.file != nil || !checksums.lists.isEmpty else {
            let cookies: String? = if case .file(let path) = session.cookie { path } else { nil }
            let taken = OtherHabits.takenURL([
                ("-b", cookies), ("-d", destination.place.directory), ("-o", file.output),
            ])
            throw ValidationError("Nothing to transfer: give URLs or -i FILE.\(taken)")
        }
        try checksums.check(hasURLs: !urls.isEmpty || input.file != nil, beside: destination.digest.checksum)
        let isStandardOutput = file.isStandardOutput
        try bounds.check(isWaiting: wait || isStandardOutput)
        if atomic && input.file == nil { throw ValidationError("--atomic needs -i FILE; URLs are added all or none.") }
        if isStandardOutput, input.file != nil || urls.count > 1 {
            throw ValidationError("-o - takes one URL: the contents of two could not be separated.")
        }
        if isStandardOutput, options.output.json { throw ValidationError("--json and -o - exclude each other.") }
        if isStandardOutput, scheduling.clientKey != nil {
            throw ValidationError("--client-key and -o - exclude each other: no task is kept.")
        }
        if let refusal = OtherHabits.urlAsList(input.file) { throw ValidationError(refusal) }
        try destination.check(beside: file)
        try chosen.checkStandardInput(besides: input.file)
    }

    private var chosen: AddOptionSet {
        AddOptionSet(
            file: file, destination: destination, content: content, request: request, response: response, cache: cache,
            session: session, access: access, place: place, scheduling: scheduling)
    }

    func run() throws {
        SecretArguments(urls: urls + mirrors, headers: request.header.arguments, session: session).warn()
        let directory = destination.place.directory
        let refusal = BoundedLookup.run { _ in
            OtherHabits.dataAsDirectory(directory) { Glibc.access($0, F_OK) == 0 }
        }
        if let refusal = refusal ?? nil { throw CommandFailure.usage(refusal) }
        if let refusal = (urls + mirrors).lazy.compactMap({ notURL($0) }).first { throw CommandFailure.usage(refusal) }
        if let warning = OtherHabits.unexpandedURL(urls) { Output.error.line("xferctl: \(warning)") }
        var list = try input.file.map { path throws(CommandFailure) in try InputList.read(path) }
        let count = urls.count + (list?.entries.count ?? 0)
        var template = try TaskTemplate(
            chosen, count: count, mirrors: mirrors, paths: .current(for: options.connection))
        let digests = try checksums.read {
            try FetchedText(daemon: options.open(start), task: template.task($0)).read()
        }
        if !digests.isEmpty {
            list = try apply(digests, to: list, &template)
            // The list may add files that were not counted before.
            let count = urls.count + (list?.entries.count ?? 0)
            try TaskTemplate.requireOneFile(chosen, count: count, mirrors: mirrors)
        }
        let kind = template.task("").kind ?? .download
        let readsFile = file.isStandardOutput && kind == .download
        // As curl would: the response of a single request that is waited for goes to standard output, and nothing else.
        let showsResponse =
            file.isStandardOutput && !readsFile
            || wait && count == 1 && kind == .data && !options.output.json
        let terminal = showsResponse || readsFile ? Terminal.error : .standard
        guard wait || file.isStandardOutput else {
            let added = try add(template, list, on: terminal)
            options.show(added.document, verbosity.quiet ? [] : added.lines + placeLines(of: added, template.paths))
            return try added.finish()
        }
        // Ctrl-C right after the add has to end the task, too.
        let signals = readsFile ? SignalPipe(catching: SignalPipe.displaySignals) : nil
        let begin = Readiness.now
        let added = try add(template, list, on: terminal)
        if !options.output.json, !verbosity.quiet { for line in added.lines { terminal.output.line(line) } }
        let status: ExitStatus
        do throws(CommandFailure) {
            status = try WaitCommand.wait(
                for: added.ids, added: added.fresh, timeout: bounds.timeout, options: options, verbosity: verbosity,
                isDaemonKnown: true,
                readsStaged: readsFile,
                notifies: bounds.notify, signals: signals, on: terminal)
        } catch {
            if readsFile, let id = added.ids.first { throw StagedReader(id: id, options: options).abandoned(error) }
            // The ids are lost otherwise. After a timeout the waiting has printed them.
            if options.output.json, error.status != .timedOut { Output.standard.document(added.document) }
            throw error
        }
        if list != nil, added.ids.count > 1, !options.output.json, !verbosity.quiet {
            let seconds = begin.duration(to: Readiness.now).components.seconds
            let summary = try ListSummary.read(added.ids, options.open(), isFleet: options.isFleet)
            terminal.output.line(summary.line(seconds: seconds))
        }
        if options.output.json, added.ids.isEmpty { Output.standard.document(added.document) }
        // A download that failed says more than a line that was refused and reported.
        if status != .done {
            let keepsAnswer = showsResponse || kind != .download && added.ids.count == 1
            if keepsAnswer, !options.output.json, !verbosity.quiet, let id = added.ids.first {
                try mentionResponse(of: id)
            }
            throw CommandFailure(status)
        }
        try added.finish()
        guard let id = added.ids.first else { return }
        if showsResponse { try showResponse(of: id) }
        if readsFile { try StagedReader(id: id, options: options).run() }
    }

    /// Sets each task's digest, or makes a list of all files that have one.
    private func apply(
        _ digests: [ChecksumList], to list: InputList?, _ template: inout TaskTemplate
    ) throws(CommandFailure) -> InputList? {
        template.checksums = digests
        for url in urls where digests.checksum(for: url, output: file.output) == nil {
            let name = SafeText.sanitised(Redaction.url(url))
            throw .usage("--checksums: \(SafeText.sanitised(digests.title)) has no digest for \(name)")
        }
        guard !urls.isEmpty || list != nil else { return checksums.inputList(of: digests) }
        var list = list
        list?.demand(digests)
        return list
    }

    /// The options that were typed for fields of several options.
    private var typed: [String: String] {
        destination.usesRemoteName && destination.place.directory == nil ? ["dir": "-O"] : [:]
    }

    /// The refusal of an argument that surely is no URL for xferd; nil for all others, which the daemon judges.
    private func notURL(_ text: String) -> String? {
        let url = PastedURL.bare(text)
        let isRelative = !url.contains(":")
        let scheme = url.firstRange(of: "://").map { url[..<$0.lowerBound] }.flatMap { scheme in
            scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) } ? scheme.lowercased() : nil
        }
        let isOfOtherScheme = scheme.map { !["http", "https"].contains($0) } ?? false
        guard isRelative && session.profile == nil || isOfOtherScheme else { return nil }
        // The login of a URL without a scheme cannot be recognised.
        let name = isRelative && url.contains("@") ? "an argument" : "\"\(SafeText.sanitised(Redaction.url(url)))\""
        return "\(name) is no URL that begins with http:// or https://; nothing was added"
    }

    /// Prints the response. The response to HEAD is its header fields.
    private func showResponse(of id: TaskID) throws {
        let daemon = try options.open()
        if content.method == .head {
            var params = TaskGet.Params(id: id)
            params.fields = TaskColumns(["http_status", "response_headers"])
            let task = try daemon.call(TaskGet.self, params).value.task
            if let status = task.httpStatus { Output.standard.line("HTTP \(status)") }
            for field in task.responseHeaders?.fields ?? [] {
                Output.standard.line(SafeText.sanitised("\(field.name): \(field.value)"))
            }
            return
        }
        try ResultCommand.write(try daemon.call(TaskResult.self, TaskResult.Params(id: id)).value, of: id, from: daemon)
    }

    /// Says that the body of a refusal is kept, if there is one.
    private func mentionResponse(of id: TaskID) throws(CommandFailure) {
        var params = TaskResult.Params(id: id)
        params.length = 1
        guard case .success(let answer) = try options.open().attempt(TaskResult.self, params),
            answer.value.bytes?.isEmpty == false
        else { return }
        Output.error.line("    \(SuggestedCommand.text("result \(id)")) shows the server's answer.")
    }

    /// The directory of a download that no option chose, unless it is the working directory: the caller would look
    /// for the file there.
    private func place(of record: TaskRecord, _ paths: PathResolver) -> String? {
        guard !chosen.hasDestination, !chosen.isStandardOutput, record.kind?.value == .download, let dir = record.dir,
            dir != paths.workingDirectory
        else { return nil }
        return SafeText.sanitised(dir) + (paths.namesAreDaemons ? "" : " (-O: here)")
    }

    /// The line about the directory of several files that name none: the answer of the call has only their ids.
    private func placeLines(of added: Added, _ paths: PathResolver) -> [String] {
        guard added.ids.count > 1, let id = added.placeless, !chosen.hasDestination, !options.output.json else {
            return []
        }
        var params = TaskGet.Params(id: id)
        params.fields = TaskColumns(["kind", "dir"])
        guard let answer = try? options.open().call(TaskGet.self, params),
            let place = place(of: answer.value.task, paths)
        else { return [] }
        return ["    \(added.isAllPlaceless ? "" : "those without dir= ")in \(place)"]
    }

    private func add(
        _ template: TaskTemplate, _ list: InputList?, on terminal: Terminal
    ) throws(CommandFailure) -> Added {
        if let list { return try add(list, template) }
        let tasks = urls.map { template.task($0) }
        try DestinationClash.check(tasks.map { ListedTask($0, line: nil) })
        let daemon = try options.open(start)
        if tasks.count == 1 {
            let answer: DaemonSession.Answer<TaskAdd.Result>
            do throws(CommandFailure) {
                answer = try daemon.call(TaskAdd.self, .one(tasks[0]))
            } catch {
                throw error.namingOptions(typed: typed)
            }
            guard case .one(let one) = answer.value else { return Added(document: AddDocument.one(answer.raw)) }
            let place = wait ? nil : place(of: one.task, template.paths)
            return Added(
                ids: [one.task.id], document: AddDocument.one(answer.raw),
                lines: AddText.lines(one, in: place, style: terminal.style))
        }
        var added = TaskAdd.Many()
        for batch in TaskBatches(tasks) {
            do throws(CommandFailure) {
                let answer = try daemon.call(TaskAdd.self, .many(Array(batch)))
                guard case .many(let many) = answer.value else { continue }
                added.ids += many.ids
                added.seq = added.seq ?? many.seq
                added.existing += many.existing.map { batch.startIndex + $0 }
            } catch {
                if !added.ids.isEmpty {
                    options.show(.object(AddDocument.many(added)), AddText.lines(added, batch: tasks[...]))
                }
                throw error.namingOptions(typed: typed).naming(batch.startIndex, in: tasks, added: added.ids.count)
            }
        }
        // All calls together are one answer.
        let document = JSONValue.object(AddDocument.many(added))
        return Added(
            ids: added.ids, document: document, lines: AddText.lines(added, batch: tasks[...]),
            placeless: added.ids.first)
    }

    private func add(_ list: InputList, _ template: TaskTemplate) throws(CommandFailure) -> Added {
        var tasks = urls.map { ListedTask(template.task($0), line: nil) }
        var outcome = ListAdder.Outcome()
        outcome.refused = list.refused
        tasks += template.tasks(of: list, refused: &outcome.refused)
        for warning in InputList.Remark.words(tasks.flatMap(\.warnings)) { Output.error.line("xferctl: \(warning)") }
        if atomic, !outcome.refused.isEmpty {
            outcome.report()
            throw CommandFailure(.refused, "nothing was added")
        }
        if atomic {
            try DestinationClash.check(tasks)
        } else {
            DestinationClash.removeLater(from: &tasks, refused: &outcome.refused)
        }
        if !verbosity.quiet { ExistingFiles.report(tasks.map(\.task), options.connection) }
        let daemon = try options.open(start)
        let since = wait ? try daemon.lastEventNumber() : nil
        let adder = ListAdder(daemon: daemon)
        do throws(CommandFailure) {
            if atomic {
                try adder.addAtomically(tasks, &outcome)
            } else {
                try adder.add(tasks, &outcome)
            }
        } catch {
            guard !outcome.added.ids.isEmpty else { throw error }
            options.show(outcome.document, AddText.lines(outcome.added, batch: outcome.tasks[...]))
            outcome.report()
            throw CommandFailure(error.status, "\(error.message); \(outcome.added.ids.count) tasks were added before")
        }
        outcome.report()
        let isNothing = outcome.added.ids.isEmpty
        let placeless = zip(outcome.added.ids, outcome.tasks).first {
            $1.dir == nil && $1.output?.contains("/") != true
        }
        return Added(
            ids: outcome.added.ids, document: outcome.document,
            lines: isNothing ? [] : AddText.lines(outcome.added, batch: outcome.tasks[...]),
            placeless: placeless?.0, isAllPlaceless: outcome.tasks.allSatisfy { $0.dir == nil },
            refused: outcome.refused.count,
            fresh: since.map { AddedTasks(outcome.added, outcome.tasks, since: $0) })
    }

    /// The results of one or several calls.
    private struct Added {
        var ids: [TaskID] = []
        /// The document for `--json`.
        let document: JSONValue
        var lines: [String] = []
        /// The first task whose file lies directly in the daemon's own directory.
        var placeless: TaskID?
        /// True if no task names a directory.
        var isAllPlaceless = true
        /// The number of lines of the list that were refused, and reported.
        var refused = 0
        /// The tasks to wait for.
        var fresh: AddedTasks?

        /// Ends the command.
        ///
        /// - Throws: the exit status if lines were refused.
        func finish() throws(CommandFailure) {
            guard refused > 0 else { return }
            throw CommandFailure(.refused, ids.isEmpty ? "nothing was added" : "")
        }
    }
}

/// The text about added tasks.
enum AddText {
    /// The line about an added task.
    ///
    /// - Parameter place: the sanitised directory of its file, if it is to be shown.
    static func lines(_ one: TaskAdd.One, in place: String? = nil, style: Style) -> [String] {
        let glance = TaskSummary(one.task)
        let state = style(StateStyle.attribute(glance.state), SafeText.sanitised(glance.state))
        let exists = one.existing == true ? " (it existed already)" : ""
        let failure = glance.state == TaskState.failed.rawValue ? glance.failure : nil
        let cause = failure.map { ": \(FailureText.cause($0))" } ?? ""
        let directory = place.map { " in \($0)" } ?? ""
        return ["#\(glance.id) \(state): \(SafeText.sanitised(glance.name))\(directory)\(cause)\(exists)"]
    }

    /// Returns the lines about added tasks: a few are listed, many are summed up.
    static func lines(_ many: TaskAdd.Many, batch: ArraySlice<NewTask>) -> [String] {
        let existing = Set(many.existing)
        guard many.ids.count > 20 else {
            return zip(many.ids, batch).enumerated().map { index, pair in
                let exists = existing.contains(index) ? " (it existed already)" : ""
                return "#\(pair.0) \(SafeText.sanitised(Redaction.url(pair.1.firstURL)))\(exists)"
            }
        }
        let range = "#\(many.ids.min()?.description ?? "") to #\(many.ids.max()?.description ?? "")"
        let exists = existing.isEmpty ? "" : ", \(existing.count) of them existed already"
        return ["\(many.ids.count) tasks: \(range)\(exists)"]
    }
}
