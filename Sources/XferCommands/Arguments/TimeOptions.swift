import ArgumentParser
import XferModel
import XferProtocol

/// When a task may run: what `add` says of a new task and `update` changes.
struct TimeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Do not start before 2026-01-02T22:00:00Z, or +2h from now.", valueName: "time"))
    var notBefore: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Run within these times only, such as 'mon-fri 22:00-06:00 Europe/Berlin'.", valueName: "window"))
    var window: WindowArgument?

    @Option(help: ArgumentHelp("Fail when it has not ended by then; a time, or +2h from now.", valueName: "time"))
    var deadline: TimeArgument?

    func apply(to schedule: inout TaskSchedule.Choices) {
        schedule.notBefore = Patch(notBefore?.time)
        schedule.window = Patch(window?.record.window)
        schedule.deadline = Patch(deadline?.time)
    }
}
