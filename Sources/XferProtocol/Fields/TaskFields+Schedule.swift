import StrictJSON
import XferModel

/// The fields of the times at which the task may run.
extension TaskFields {
    static let schedule: [ChoiceField<TaskSchedule.Choices>] = [
        ChoiceField(
            "not_before", \.notBefore, task: "It does not start before.", record: "It does not start before.",
            change: .anytime("It does not start before; null is at any time.", isNullable: true),
            example: "2026-01-02T22:00:00Z"),
        ChoiceField(
            "window", \.window, task: "It runs within these times only; outside them it stops and waits.",
            record: "It runs within these times only.",
            change: .anytime("It runs within these times only; null is at any time.", isNullable: true),
            example: ["times": ["22:00-06:00"], "days": ["sat", "sun"], "zone": "Europe/Berlin"]),
        ChoiceField(
            "deadline", \.deadline, task: "It fails then with deadline_exceeded unless it has ended or is staged.",
            record: "It fails then unless it has ended or is staged.",
            change: .anytime("It fails then unless it has ended or is staged; null is never.", isNullable: true),
            example: "2026-01-03T06:00:00Z"),
        ChoiceField(
            "lease", \.lease,
            task: "It runs, and its file is published, only while the lease of this name is in force: see lease.renew.",
            record: "The lease that has to be in force while it runs.",
            change: .anytime("The lease that has to be in force while it runs; null is none.", isNullable: true),
            access: .operators, limits: [.length(1...TaskLimits.nameLength), .visible], example: "fleet"),
    ]
}
