import ArgumentParser
import XferModel

/// Under which conditions a task may run. `add`, `update` and `profile set` have these.
struct ConditionOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Whether it may go over links that cost money; if not, it waits for another. By default it may.")
    var metered: Bool?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.allowsMetered = Patch(metered)
    }
}

/// How long one attempt may take. `add`, `update` and `profile set` have these.
struct TimeoutOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Longest time to connect, such as 30s; 0 is without end.", valueName: "time"))
    var connectTimeout: TimeSpan?

    @Option(help: ArgumentHelp("Longest time without a byte; 0 is without end.", valueName: "time"))
    var idleTimeout: TimeSpan?

    @Option(help: ArgumentHelp("Longest time for one attempt; 0 is without end.", valueName: "time"))
    var totalTimeout: TimeSpan?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.connectTimeout = Patch(connectTimeout?.seconds)
        choices.idleTimeout = Patch(idleTimeout?.seconds)
        choices.totalTimeout = Patch(totalTimeout?.seconds)
    }
}
