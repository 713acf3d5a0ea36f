import ArgumentParser
import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl verify`: reads published files again and compares them with their digests.
struct VerifyCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read files again and compare them with their checksums.",
        discussion: """
            Files are compared with the digest that was verified when they were published. If none was, the first \
            verification computes SHA-256, and the daemon keeps it for the next one. The exit status is 1 if a file \
            differs, was changed or is gone. The files are read by this command, with your rights. A file is compared \
            with the digest of the last task that published it; ./7 is a file, and 7 a task. Of a directory all files \
            are compared that tasks of the history published beneath it, and the others are counted: the settings \
            history.max_age and history.max_count say how long tasks stay in the history. The count ends after \
            1,000,000 names or 30 seconds, and the output says so: verify the directories beneath one by one then.

              xferctl verify 7
              xferctl verify ~/data
              xferctl verify ~/Downloads/*.iso
              xferctl verify --group isos
              xferctl verify --all
            """)
    static let states: Set<TaskState> = [.completed]

    @Argument(
        help: ArgumentHelp(
            "Ids of tasks (7, 1,2, 1-5 or 7-), published files, or directories of them.", valueName: "id-or-file"),
        completion: .daemon(.tasks), transform: VerifyTarget.argument)
    var targets: [VerifyTarget] = []

    @Flag(help: "All tasks you may touch.")
    var all = false

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    @OptionGroup var verbosity: VerbosityOptions
    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        let ways = [!targets.isEmpty, all, filters.filter != nil].filter(\.self).count
        guard ways > 0 else {
            throw ValidationError("Which files? Give ids, files, filters such as --group NAME, or --all.")
        }
        guard ways == 1 else { throw ValidationError("Ids or files, filters and --all exclude each other.") }
        if options.connection.isRemote {
            throw ValidationError("the files are on the daemon's machine: verify them there.")
        }
    }

    func run() throws {
        let daemon = try options.open()
        let (ids, unknown, unrecorded) = try tasks(daemon)
        var verdicts: [FileVerdict] = []
        // A list that was added twice names each file twice: a terabyte is read once.
        var known: [[String]: FoundDigest] = [:]
        func digest(_ path: String, _ algorithm: Checksum.Algorithm) -> FoundDigest {
            let key = [path, algorithm.rawValue]
            let digest = known[key] ?? FileVerdict.digest(path, algorithm)
            known[key] = digest
            return digest
        }
        for id in ids {
            var params = TaskGet.Params(id: id)
            params.fields = FileVerdict.fields
            let task = try daemon.call(TaskGet.self, params).value.task
            var verdict = FileVerdict(task, digest: digest)
            if verdict.result == .unrecorded { try verdict.record(daemon, digest: digest) }
            verdicts.append(verdict)
            // A large file takes minutes: each is reported as soon as it is known.
            if !options.output.json, !verbosity.quiet || verdict.isProblem { Output.standard.line(verdict.line) }
        }
        if options.output.json {
            var document: JSONObject = ["files": .array(verdicts.map(\.json))]
            if let unrecorded {
                document["without_record"] = .integer(Int64(clamping: unrecorded.files))
                if !unrecorded.isComplete { document["without_record_complete"] = false }
            }
            Output.standard.document(.object(document))
        }
        if verdicts.count > 1, !options.output.json, !verbosity.quiet {
            Output.standard.line(FileVerdict.summary(verdicts))
        }
        if let unrecorded, unrecorded != DirectoryFiles.Count(), !verbosity.quiet {
            Output.error.line("xferctl: \(Self.note(unrecorded))")
        }
        if verdicts.contains(where: { [.differs, .changed, .gone].contains($0.kind) }), !verbosity.quiet {
            Output.error.line(
                "xferctl: adding the same URLs and checksums with --on-conflict verify fetches these files again and "
                    + "keeps the right ones")
        }
        if verdicts.isEmpty, unknown.isEmpty, !options.output.json, !verbosity.quiet {
            Output.standard.line("nothing to verify: \(SelectionReason(filters, daemon).noMatch(in: Self.states))")
        }
        // Nothing was compared: that is no success.
        let hasCompared = verdicts.isEmpty || verdicts.contains { $0.kind != .unverified }
        if !hasCompared || verdicts.contains(where: \.isProblem) { throw CommandFailure(.taskFailed) }
        guard unknown.isEmpty else {
            let names = unknown.map { SafeText.sanitised($0) }.joined(separator: ", ")
            let arguments = unknown
            let isAbsent = BoundedLookup.run { _ in arguments.allSatisfy { access($0, F_OK) != 0 } } ?? false
            guard !isAbsent else {
                throw CommandFailure(.refused, "no completed task published \(names): there is no such file")
            }
            throw CommandFailure(
                .refused, "no completed task published \(names), or the history has it no more. \(Self.historyNote)")
        }
    }

    /// The message about files beneath the directories that no task of the history published.
    static func note(_ unrecorded: DirectoryFiles.Count) -> String {
        let count = unrecorded.files
        let subject = count == 1 ? "1 file here has" : "\(count) files here have"
        let facts = "\(subject) no record and \(count == 1 ? "was" : "were") not verified"
        guard !unrecorded.isComplete else { return "\(facts). \(historyNote)" }
        let bounds = "\(DirectoryFiles.mostNames) names or \(DirectoryFiles.longestTime.components.seconds) seconds"
        return "at least \(facts): the count ended after \(bounds); verify the directories beneath one by one. "
            + historyNote
    }

    private static var historyNote: String {
        let command = SuggestedCommand.text("add -d DIR --checksums LIST --base-url URL --on-conflict verify")
        return "The settings history.max_age and history.max_count limit the history; \(command) compares files with "
            + "a list."
    }

    /// The tasks whose files are verified, in the order of the arguments; the arguments of which no task published a
    /// file; and the number of files beneath the other directories that no task published, or nil without such one.
    private func tasks(
        _ daemon: DaemonSession
    ) throws(CommandFailure) -> (ids: [TaskID], unknown: [String], unrecorded: DirectoryFiles.Count?) {
        let named = targets.compactMap { if case .tasks(let ids) = $0 { ids } else { nil } }
        let arguments = targets.compactMap { if case .file(let path) = $0 { path } else { nil } }
        guard !arguments.isEmpty else {
            let selected = SelectedTasks(named: named, isAll: all, filters: filters, daemon: daemon)
            return (try selected.ids(in: Self.states), [], nil)
        }
        guard let paths = PathResolver.here() else { throw .usage("the working directory does not exist any more") }
        // A task has the path of its directory as the client gave it.
        let candidates = arguments.map { argument -> (files: [String], directories: [String]) in
            let path = paths.absolute(argument)
            return BoundedLookup.run { _ in VerifyTarget.candidates(path) } ?? (files: [path], directories: [])
        }
        let (files, directories) = (candidates.flatMap(\.files), candidates.flatMap(\.directories))
        let published = try SelectedTasks.publishing(
            Set(files), beneath: Set(directories), fields: ["checksum", "digest", "skipped", "not_modified"],
            by: { task in
                if task.checksum != nil || task.digest != nil { return 0 }
                // One that left the file as it was has published none.
                return task.skipped == true || task.notModified == true ? 2 : 1
            }, daemon)
        var ids = named.isEmpty ? [] : try SelectionOptions.named(named, daemon)
        var known = Set(ids)
        var unknown: [String] = []
        var unrecorded: DirectoryFiles.Count?
        for (argument, candidates) in zip(arguments, candidates) {
            let file = candidates.files.lazy.compactMap { published[$0] }.first
            let beneath = published.filter { path, _ in candidates.directories.contains { path.hasPrefix($0) } }
            let found = file.map { [$0] } ?? beneath.sorted { $0.key < $1.key }.map(\.value)
            if found.isEmpty { unknown.append(argument) }
            if !found.isEmpty, let directory = candidates.directories.last {
                let recorded = Set(
                    beneath.keys.compactMap { path in
                        candidates.directories.first { path.hasPrefix($0) }.map { path.dropFirst($0.count) }
                    })
                unrecorded = unrecorded ?? DirectoryFiles.Count()
                unrecorded? += DirectoryFiles.count(beneath: directory) { !recorded.contains($0[...]) }
            }
            ids += found.filter { known.insert($0).inserted }
        }
        return (ids, unknown, unrecorded)
    }
}

/// The argument of `xferctl verify`: ids of tasks, or a file.
enum VerifyTarget: Hashable, Sendable {
    case tasks(TaskIDsArgument)
    case file(String)

    /// Reads an argument: ids of tasks, or a file.
    ///
    /// - Throws: `ValidationError` if the text is empty.
    static func argument(_ text: String) throws -> VerifyTarget {
        guard !text.isEmpty else { throw ValidationError("expected \(TaskIDsArgument.expected), or a file") }
        return TaskIDsArgument(argument: text).map { .tasks($0) } ?? .file(text)
    }

    /// The paths by which tasks may know a file, or the beginnings of paths, with a slash, of the files of a directory.
    ///
    /// - Parameter path: an absolute path.
    static func candidates(_ path: String) -> (files: [String], directories: [String]) {
        guard let real = realpath(path, nil) else { return ([path, resolved(path)].compactMap(\.self), []) }
        defer { free(real) }
        var status = stat()
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return ([path, resolved(path)].compactMap(\.self), [])
        }
        return ([], [path, String(cString: real)].map { $0.hasSuffix("/") ? $0 : $0 + "/" })
    }

    /// The path without symbolic links in its directories; nil if there is no such directory.
    static func resolved(_ path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        guard let resolved = realpath(slash == path.startIndex ? "/" : String(path[..<slash]), nil) else { return nil }
        defer { free(resolved) }
        let directory = String(cString: resolved)
        return directory == "/" ? String(path[slash...]) : directory + path[slash...]
    }
}
