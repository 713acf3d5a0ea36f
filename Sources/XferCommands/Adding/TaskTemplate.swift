import ArgumentParser
import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// All options of `add`; those of `batch add` have no file and no place.
struct AddOptionSet {
    var file: FileOptions?
    var destination: DestinationOptions
    var content: ContentOptions
    var request: RequestOptions
    var response: ResponseOptions
    var cache: CacheOptions
    var session: SessionOptions
    var access: AccessOptions
    var place: PlaceOptions?
    var scheduling: SchedulingOptions

    var isStandardOutput: Bool { file?.isStandardOutput ?? false }

    /// The option that sets the place of the response; nil if none does.
    var destinationOption: String? {
        if isStandardOutput { return nil }
        if file?.output != nil { return "-o" }
        return destination.place.directory != nil ? "-d" : destination.usesRemoteName ? "-O" : nil
    }

    /// True if an option sets the place of the response.
    var hasDestination: Bool { destinationOption != nil }

    /// Checks that at most one option reads standard input.
    ///
    /// - Parameter inputFile: the list of `-i`.
    /// - Throws: `ValidationError` if two of them read standard input.
    func checkStandardInput(besides inputFile: String?) throws {
        let readers = [
            ("-i", inputFile == "-"), ("--password-file", access.passwordFile == "-"),
            ("--proxy-password-file", access.proxyPasswordFile == "-"),
            ("--bearer-file", access.bearerFile == "-"), ("--json-body", content.jsonBody == "@-"),
            ("--data", content.data.contains("@-")), ("--data-binary", content.dataBinary == "@-"),
            ("-b", session.cookie == .file("-")),
            ("-H", request.header.arguments.contains(.file("-"))),
        ].filter(\.1).map(\.0)
        if readers.count > 1 {
            throw ValidationError("\(readers[0]) and \(readers[1]) cannot both read standard input.")
        }
        if content.uploadFile == "-" {
            throw ValidationError(
                "-T sends a regular file, not standard input: save it to a file, or send a small body with -X PUT "
                    + "--data-binary @-.")
        }
    }
}

/// The settings of the options of `add` for every task that it adds.
struct TaskTemplate {
    private let prototype: NewTask
    private let content: ContentTemplate
    private let mirrors: [String]
    /// The cookies of `-b`. Each task gets those that apply to its servers.
    private let cookies: CookieFile?
    let paths: PathResolver
    /// The value of `-d`.
    let directory: String?
    /// Digests by name, for tasks that have none of their own.
    var checksums: [ChecksumList] = []

    /// Creates the template. Prompts for passwords if any are needed.
    /// - Parameters:
    ///   - count: the number of URLs.
    ///   - mirrors: further sources of the one URL.
    init(
        _ options: AddOptionSet, count: Int, mirrors: [String] = [], paths: PathResolver?
    ) throws(CommandFailure) {
        try Self.requireOneFile(options, count: count, mirrors: mirrors)
        guard let paths else { throw .usage("the current directory is gone; change to another one") }
        self.mirrors = mirrors.map { PastedURL.bare($0) }
        self.paths = paths
        directory = options.destination.directory(paths)
        content = ContentTemplate(
            options.content, paths: paths, hasDestination: options.hasDestination,
            hasProfile: options.session.profile != nil)
        var task = NewTask()
        if !options.isStandardOutput {
            (task.dir, task.output) = try paths.destination(directory: directory, output: options.file?.output)
            try Self.requireFile(task, of: options, paths)
        }
        Self.apply(options.destination, to: &task)
        try Self.apply(options.request, to: &task)
        task.policy = options.session.trust.policy
        task.choices.authoritiesFile = Patch(options.session.trust.authoritiesFile.map(paths.absolute))
        task.choices.unixSocket = Patch(options.session.socket.unixSocket.map(paths.absolute))
        if options.session.pathAsIs { task.choices.keepsPath = .set(true) }
        Self.apply(options.response, to: &task)
        Self.apply(options.cache, to: &task)
        try content.apply(to: &task)
        if let kind = task.kind, kind != .download, let option = options.destinationOption {
            throw .usage(
                "\(option) is for downloads, and the answer to this request is kept: use -o - > FILE, or "
                    + "\(SuggestedCommand.text("result ID -o FILE")) when it has ended")
        }
        task.access = try options.access.choices(paths)
        cookies = try Self.apply(options.session, to: &task)
        task.group = options.place?.group
        task.slot = options.place?.slot
        Self.apply(options.scheduling, to: &task)
        // Verified as a whole before its first byte is written, and never published.
        if options.isStandardOutput, task.kind ?? .download == .download {
            task.completion.finalize = .set(.manual)
        }
        prototype = task
    }

    /// Throws if an option is for one file, and there are several.
    ///
    /// - Parameter count: the number of files.
    static func requireOneFile(
        _ options: AddOptionSet, count: Int, mirrors: [String]
    ) throws(CommandFailure) {
        guard count > 1 else { return }
        if options.file?.output != nil {
            throw .usage(
                "-o is for one file, but there are \(count) URLs; use -d for a directory, or --mirror URL for another "
                    + "source of the one file")
        }
        if options.scheduling.clientKey != nil {
            throw .usage("--client-key is for one task, but there are \(count) URLs")
        }
        if options.place?.slot != nil {
            throw .usage("a slot has one task at a time, but there are \(count) URLs")
        }
        if !mirrors.isEmpty {
            throw .usage(
                "--mirror is another URL for the same bytes, but there are \(count) URLs; with --checksums, a second "
                    + "--base-url is a mirror of each file")
        }
    }

    /// The task for sources of the same bytes.
    ///
    /// - Parameter urls: the sources of the same bytes, the preferred one first.
    func task(_ urls: [String]) -> NewTask {
        var task = prototype
        let sources = urls.map { PastedURL.bare($0) } + mirrors
        if sources.count < 2 {
            task.url = content.url(sources.first ?? "")
        } else {
            task.urls = sources
        }
        if task.checksum == nil {
            task.checksum = sources.lazy.compactMap { checksums.checksum(for: $0, output: task.output) }.first
        }
        if let records = cookies?.records(for: sources), !records.isEmpty { task.access.cookieList = .set(records) }
        return task
    }

    func task(_ url: String) -> NewTask { task([url]) }

    /// Requires that nothing but a file is in the place of `-o`. The daemon does, too, but cannot name the options.
    private static func requireFile(
        _ task: NewTask, of options: AddOptionSet, _ paths: PathResolver
    ) throws(CommandFailure) {
        guard !paths.namesAreDaemons, let output = options.file?.output, let name = task.output else { return }
        let path = name.hasPrefix("/") ? name : "\(task.dir ?? "")/\(name)"
        let kind = BoundedLookup.run { _ in
            var facts = stat()
            return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : S_IFREG
        }
        guard let kind, kind != S_IFREG, kind != S_IFDIR else { return }
        let place = SafeText.sanitised(output)
        throw .usage(
            "-o: \(place) is a device, a socket or a pipe, which a file never replaces; use -o - URL > \(place)")
    }

    private static func apply(_ options: DestinationOptions, to task: inout NewTask) {
        task.destination.onConflict = Patch(options.conflictPolicy)
        task.destination.mode = Patch(options.mode)
        if options.usesRemoteTime { task.destination.usesRemoteTime = .set(true) }
        if options.allowHidden { task.destination.allowsHidden = .set(true) }
        task.checksum = options.digest.checksum
        task.completion.finalize = Patch(options.finalize?.word)
        task.completion.postProcess = Patch(options.postProcess)
    }

    private static func apply(_ options: RequestOptions, to task: inout NewTask) throws(CommandFailure) {
        let headers = try options.headerFields()
        if !headers.isEmpty { task.headers = HeaderChanges(headers) }
        task.choices = options.choices
    }

    private static func apply(_ options: ResponseOptions, to task: inout NewTask) {
        task.parse = options.parse.isEmpty ? nil : options.parse.map(\.word)
        task.stripNulls = options.stripNulls ? true : nil
    }

    private static func apply(_ options: CacheOptions, to task: inout NewTask) {
        options.apply(to: &task.choices)
        task.cacheKey = Patch(options.cacheKey)
    }

    /// Applies the options to the fields of a task.
    ///
    /// - Returns: the cookies of `-b`; nil if it does not specify a file.
    private static func apply(
        _ options: SessionOptions, to task: inout NewTask
    ) throws(CommandFailure) -> CookieFile? {
        task.profile = options.profile
        task.access.cookies = Patch(options.cookies)
        if case .file(let path) = options.cookie { return try CookieFile.read(path) }
        guard let field = options.cookieField else { return nil }
        var headers = task.headers ?? HeaderChanges([])
        headers.set.fields.append(field)
        task.headers = headers
        return nil
    }

    private static func apply(_ options: SchedulingOptions, to task: inout NewTask) {
        task.priority = options.queue.priority?.word
        task.label = options.label
        task.owner = options.owner
        task.clientKey = options.clientKey
        task.coalesce = options.coalesce ? nil : false
        task.retryFailed = options.retryFailed ? true : nil
        task.paused = options.paused ? true : nil
        task.after = options.queue.targets?.map { TaskReference($0) }
        options.times.apply(to: &task.schedule)
        task.schedule.afterBatch = Patch(options.queue.afterBatch)
        task.schedule.afterGroup = Patch(options.queue.afterGroup)
        options.limits.apply(to: &task.limits)
        task.limits.range = Patch(options.sourceRange?.range)
        task.resume = options.resume?.word
        task.completion.onComplete = Patch(options.onComplete)
        task.completion.onError = Patch(options.onError)
        task.completion.onEnd = options.onEnd.isEmpty ? .unchanged : .set(options.onEnd)
        task.meta = options.queue.meta
    }
}
