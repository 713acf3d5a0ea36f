import ArgumentParser
import XferModel
import XferProtocol

/// The times at which a task may run: set by `add` and changed by `update`.
struct TimeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Do not start before 22:00, 'tomorrow 08:00', '2027-01-01 10:00', or +2h from now.", valueName: "time"),
        transform: TimeArgument.argument)
    var notBefore: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Run within these times only, such as 'mon-fri 22:00-06:00 Europe/Berlin'.", valueName: "window"),
        transform: WindowArgument.argument)
    var window: WindowArgument?

    @Option(
        help: ArgumentHelp("Fail if it has not ended by this time; same form as --not-before.", valueName: "time"),
        transform: TimeArgument.argument)
    var deadline: TimeArgument?

    func apply(to schedule: inout TaskSchedule.Choices) {
        schedule.notBefore = Patch(notBefore?.time)
        schedule.window = Patch(window?.record.window)
        schedule.deadline = Patch(deadline?.time)
    }
}

/// A window as people write it: days, times and a zone, in any order: `mon-fri,sun 22:00-06:00 Europe/Berlin`.
struct WindowArgument: ExplainedArgument {
    static var expected: String { "days, times and perhaps a zone, such as 'mon-fri 22:00-06:00 Europe/Berlin'" }

    let record: WindowRecord

    init?(argument: String) {
        var record = WindowRecord()
        for word in argument.split(separator: " ") {
            let parts = word.split(separator: ",", omittingEmptySubsequences: false)
            if parts.allSatisfy({ $0.contains(":") }) {
                let times = parts.compactMap { DailyTimes(typed: $0) }
                guard times.count == parts.count else { return nil }
                record.times = (record.times ?? []) + times
            } else if let days = Weekday.days(word) {
                record.days = (record.days ?? []) + days
            } else {
                guard record.zone == nil, parts.count == 1 else { return nil }
                record.zone = String(word)
            }
        }
        guard record.times != nil || record.days != nil else { return nil }
        self.record = record
    }
}
