import ArgumentParser
import XferModel

/// Options for a task's retries and rates. `add` and `update` have these.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Receive at most so many bytes per second, such as 500K or 2Mi; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var limitRate: ByteAmount?

    @Option(
        help: ArgumentHelp("Send at most so many bytes per second; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var limitSend: ByteAmount?

    @Option(help: ArgumentHelp("Try again at most so often.", valueName: "count"), transform: Int.integer)
    var maxRetries: Int?

    @Option(
        help: ArgumentHelp("Keep trying for so long without progress; by default 24h.", valueName: "time"),
        transform: TimeSpan.argument)
    var retryFor: TimeSpan?

    @Option(
        help: ArgumentHelp("Report progress this often; by default every 0.5s.", valueName: "time"),
        transform: TimeSpan.argument)
    var progressInterval: TimeSpan?

    mutating func validate() throws {
        if let maxRetries, maxRetries < 0 { throw ValidationError("--max-retries: expected 0 or more.") }
    }

    func apply(to limits: inout TaskSpecification.Limits) {
        limits.maxReceiveRate = Patch(limitRate?.bytes)
        limits.maxSendRate = Patch(limitSend?.bytes)
        limits.maxRetries = Patch(maxRetries)
        limits.retryFor = Patch(retryFor?.wholeSeconds)
        limits.progressInterval = Patch(progressInterval?.seconds)
    }
}
