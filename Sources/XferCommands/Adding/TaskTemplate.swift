import StrictJSON
import XferModel
import XferProtocol

/// What the options of `add` say about every task it adds.
struct TaskTemplate {
    private let prototype: NewTask

    /// Asks for the password if one is needed.
    /// - Parameter count: how many URLs it is for.
    init(
        destination: DestinationOptions, request: RequestOptions, scheduling: SchedulingOptions, count: Int,
        paths: PathResolver? = .current()
    ) throws(CommandFailure) {
        if count > 1 && destination.output != nil {
            throw .usage("-o names one file, but there are \(count) URLs; use -d for a directory")
        }
        if count > 1 && scheduling.clientKey != nil {
            throw .usage("--client-key names one task, but there are \(count) URLs")
        }
        guard let paths else { throw .usage("the current directory is gone; change to another one") }
        var task = NewTask()
        try Self.apply(destination, paths, to: &task)
        try Self.apply(request, to: &task)
        Self.apply(scheduling, to: &task)
        prototype = task
    }

    func task(_ url: String) -> NewTask {
        var task = prototype
        task.url = url
        return task
    }

    private static func apply(
        _ options: DestinationOptions, _ paths: PathResolver, to task: inout NewTask
    ) throws(CommandFailure) {
        (task.dir, task.output) = try options.resolved(paths)
        task.onConflict = options.onConflict?.word
        task.mode = options.mode
        task.remoteTime = options.usesRemoteTime ? true : nil
        task.checksum = options.checksum
    }

    private static func apply(_ options: RequestOptions, to task: inout NewTask) throws(CommandFailure) {
        if !options.headers.isEmpty {
            task.headers = HeaderList(options.headers.map { HeaderField(name: $0.name, value: $0.value) })
        }
        task.credential = try options.credential()
        task.redirect = options.redirect?.word
        task.allowDowngrade = options.allowDowngrade ? true : nil
        task.policy = options.policy
        task.httpVersion = options.httpVersion
        task.acceptStatus = options.acceptStatus
        task.connectTimeout = options.connectTimeout?.seconds
        task.idleTimeout = options.idleTimeout?.seconds
        task.totalTimeout = options.totalTimeout?.seconds
    }

    private static func apply(_ options: SchedulingOptions, to task: inout NewTask) {
        task.priority = options.priority?.word
        task.group = options.group
        task.label = options.label
        task.clientKey = options.clientKey
        task.paused = options.paused ? true : nil
        task.maxReceiveRate = options.limitRate?.bytes
        task.maxRetries = options.maxRetries
        task.retryFor = options.retryFor?.wholeSeconds
        task.resume = options.resume?.word
        task.progressInterval = options.progressInterval?.seconds
        task.meta = options.meta
    }
}
