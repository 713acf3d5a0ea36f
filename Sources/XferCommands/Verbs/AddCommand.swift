import ArgumentParser
import Glibc
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

    var chosen: AddOptionSet {
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
        let end: WaitCommand.Result
        do throws(CommandFailure) {
            end = try WaitCommand.wait(
                for: added.ids, added: added.fresh, timeout: bounds.timeout, options: options, verbosity: verbosity,
                isDaemonKnown: true,
                readsStaged: readsFile,
                notifies: bounds.notify, signals: signals, on: terminal, errors: added.errors)
        } catch {
            if readsFile, let id = added.ids.first { throw StagedReader(id: id, options: options).abandoned(error) }
            // The ids are lost otherwise. After a timeout the waiting has printed them.
            if options.output.json, error.status != .timedOut { Output.standard.document(added.document) }
            throw error
        }
        if list != nil, added.ids.count > 1, !options.output.json, !verbosity.quiet {
            let seconds = begin.duration(to: Readiness.now).components.seconds
            // A fleet has no cache.
            let mayUseCache = added.fresh?.mayUseCache != false && !options.isFleet
            let cached = mayUseCache ? try ListSummary.readCached(added.ids, options.open()) : []
            terminal.output.line(ListSummary(end.tasks, cached: cached).line(seconds: seconds))
        }
        if options.output.json, added.ids.isEmpty { Output.standard.document(added.document) }
        // A download that failed says more than a line that was refused and reported.
        if end.status != .done {
            let keepsAnswer = showsResponse || kind != .download && added.ids.count == 1
            if keepsAnswer, !options.output.json, !verbosity.quiet, let id = added.ids.first {
                try mentionResponse(of: id)
            }
            throw CommandFailure(end.status)
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
}
