import ArgumentParser
import StrictJSON
import XferModel

/// The place of a task in the queue, and its client's own value. `add` and `update` have these.
struct QueueOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Higher starts first (default of a new task: normal).", valueName: "level"))
    var priority: EnumArgument<Priority>?

    @Option(
        help: ArgumentHelp(
            "Start when this task has completed; may be repeated. A change replaces the earlier ones.",
            valueName: "id"),
        completion: .daemon(.tasks), transform: TaskIDArgument.argument)
    var after: [TaskIDArgument] = []

    @Option(
        help: ArgumentHelp("Start when the members of this batch have completed.", valueName: "id"),
        completion: .daemon(.batches), transform: BatchID.argument)
    var afterBatch: BatchID?

    @Option(
        help: ArgumentHelp(
            "Start when the tasks of this group that are unfinished now have completed.", valueName: "name"),
        completion: .daemon(.groups))
    var afterGroup: String?

    @Option(
        help: ArgumentHelp("JSON of your own, stored and returned unchanged.", valueName: "json"),
        transform: JSONValue.argument)
    var meta: JSONValue?

    /// The tasks of `--after`; nil if it is not given.
    var targets: [TaskID]? { after.isEmpty ? nil : after.map(\.id) }
}

/// Options for a task's retries and rates. `add` and `update` have these.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Receive at most this many bytes per second, such as 500K or 2Mi; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var limitRate: ByteAmount?

    @Option(
        help: ArgumentHelp("Send at most this many bytes per second; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var limitSend: ByteAmount?

    @Option(help: ArgumentHelp("Retry at most this many times.", valueName: "count"), transform: Int.integer)
    var maxRetries: Int?

    @Option(
        help: ArgumentHelp("Keep trying for this long without progress; by default 24h.", valueName: "time"),
        transform: TimeSpan.argument)
    var retryFor: TimeSpan?

    @Option(
        help: ArgumentHelp("Report progress this often; by default every 0.5s.", valueName: "time"),
        transform: TimeSpan.argument)
    var progressInterval: TimeSpan?

    @Option(
        help: ArgumentHelp("Fetch this many parts at the same time, 1 to 16, or auto.", valueName: "count"),
        transform: SegmentsArgument.argument)
    var segments: SegmentsArgument?

    @Option(
        help: ArgumentHelp("Fail if the download is larger, such as 500M.", valueName: "size"),
        transform: ByteAmount.argument)
    var maxSize: ByteAmount?

    mutating func validate() throws {
        if let maxRetries, maxRetries < 0 { throw ValidationError("--max-retries: expected 0 or more.") }
    }

    func apply(to limits: inout TaskSpecification.Limits) {
        limits.maxReceiveRate = Patch(limitRate?.bytes)
        limits.maxSendRate = Patch(limitSend?.bytes)
        limits.maxRetries = Patch(maxRetries)
        limits.retryFor = Patch(retryFor?.wholeSeconds)
        limits.progressInterval = Patch(progressInterval?.seconds)
        limits.segments = Patch(segments?.count)
        limits.maxSize = Patch(maxSize?.bytes)
    }
}
