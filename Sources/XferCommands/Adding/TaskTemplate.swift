import StrictJSON
import XferModel
import XferProtocol

/// All options of `add`.
struct AddOptionSet {
    var destination: DestinationOptions
    var content: ContentOptions
    var request: RequestOptions
    var cache: CacheOptions
    var access: AccessOptions
    var scheduling: SchedulingOptions
}

/// What the options of `add` say about every task it adds.
struct TaskTemplate {
    private let prototype: NewTask
    private let content: ContentTemplate
    private let mirrors: [String]
    let paths: PathResolver
    /// What `-d` says.
    let directory: String?

    /// Asks for passwords if any are needed.
    /// - Parameters:
    ///   - count: how many URLs it is for.
    ///   - mirrors: further sources of the one URL.
    init(
        _ options: AddOptionSet, count: Int, mirrors: [String] = [], paths: PathResolver?
    ) throws(CommandFailure) {
        if count > 1 && options.destination.output != nil {
            throw .usage("-o names one file, but there are \(count) URLs; use -d for a directory")
        }
        if count > 1 && options.scheduling.clientKey != nil {
            throw .usage("--client-key names one task, but there are \(count) URLs")
        }
        if count > 1 && options.scheduling.slot != nil {
            throw .usage("--slot holds one task at a time, but there are \(count) URLs")
        }
        if count > 1 && !mirrors.isEmpty {
            throw .usage("--mirror is another URL for the same bytes, but there are \(count) URLs")
        }
        guard let paths else { throw .usage("the current directory is gone; change to another one") }
        self.mirrors = mirrors
        self.paths = paths
        directory = options.destination.directory(paths)
        content = ContentTemplate(
            options.content, paths: paths, hasDestination: options.destination.isGiven)
        var task = NewTask()
        try Self.apply(options.destination, paths, to: &task)
        try Self.apply(options.request, to: &task)
        Self.apply(options.cache, to: &task)
        try content.apply(to: &task)
        try Self.apply(options.access, paths, to: &task)
        Self.apply(options.scheduling, to: &task)
        // Verified as a whole before its first byte is written, and never published.
        if options.destination.isStandardOutput, task.kind ?? .download == .download {
            task.completion.finalize = .set(.manual)
        }
        prototype = task
    }

    func task(_ url: String) -> NewTask {
        var task = prototype
        if mirrors.isEmpty {
            task.url = content.url(url)
        } else {
            task.urls = [url] + mirrors
        }
        return task
    }

    private static func apply(
        _ options: DestinationOptions, _ paths: PathResolver, to task: inout NewTask
    ) throws(CommandFailure) {
        (task.dir, task.output) = try options.resolved(paths)
        task.destination.onConflict = Patch(options.onConflict?.word)
        task.destination.mode = Patch(options.mode)
        if options.usesRemoteTime { task.destination.usesRemoteTime = .set(true) }
        task.checksum = options.checksum
        task.completion.finalize = Patch(options.finalize?.word)
        task.completion.postProcess = Patch(options.postProcess)
    }

    private static func apply(_ options: RequestOptions, to task: inout NewTask) throws(CommandFailure) {
        let headers = try options.headerFields()
        if !headers.isEmpty { task.headers = HeaderChanges(headers) }
        task.choices = options.choices
        task.policy = options.policy
        task.parse = options.parse.isEmpty ? nil : options.parse.map(\.word)
        task.stripNulls = options.stripNulls ? true : nil
    }

    private static func apply(_ options: CacheOptions, to task: inout NewTask) {
        options.apply(to: &task.choices)
        task.cacheKey = Patch(options.cacheKey)
    }

    private static func apply(
        _ options: AccessOptions, _ paths: PathResolver, to task: inout NewTask
    ) throws(CommandFailure) {
        task.profile = options.profile
        task.access = try options.choices(paths)
        guard let field = options.cookieField else { return }
        var headers = task.headers ?? HeaderChanges([])
        headers.set.fields.append(field)
        task.headers = headers
    }

    private static func apply(_ options: SchedulingOptions, to task: inout NewTask) {
        task.priority = options.priority?.word
        task.group = options.group
        task.label = options.label
        task.clientKey = options.clientKey
        task.slot = options.slot
        task.coalesce = options.coalesce ? nil : false
        task.retryFailed = options.retryFailed ? true : nil
        task.paused = options.paused ? true : nil
        task.after = options.after.isEmpty ? nil : options.after.map { TaskReference($0.id) }
        options.times.apply(to: &task.schedule)
        options.limits.apply(to: &task.limits)
        task.limits.segments = Patch(options.segments?.count)
        task.resume = options.resume?.word
        task.completion.onComplete = Patch(options.onComplete)
        task.completion.onError = Patch(options.onError)
        task.completion.onEnd = options.onEnd.isEmpty ? .unchanged : .set(options.onEnd)
        task.meta = options.meta
    }
}
