import StrictJSON
import XferModel

/// The fields of the times at which the task may run, and of the tasks that have to complete first.
extension TaskFields {
    static let schedule: [ChoiceField<TaskSchedule.Choices>] = [
        ChoiceField(
            "not_before", \.notBefore, task: "Earliest start time.", record: "Earliest start time.",
            change: .anytime("Earliest start time; null is any time.", isNullable: true),
            example: "2026-01-02T22:00:00Z"),
        ChoiceField(
            "window", \.window, task: "Times at which it may run; outside them it stops and waits.",
            record: "Times at which it may run.",
            change: .anytime("Times at which it may run; null is any time.", isNullable: true),
            example: ["times": ["22:00-06:00"], "days": ["sat", "sun"], "zone": "Europe/Berlin"]),
        ChoiceField(
            "deadline", \.deadline,
            task:
                "Time at which it fails with deadline_exceeded unless it has ended or is staged.",
            record: "Time at which it fails unless it has ended or is staged.",
            change: .anytime(
                "Time at which it fails unless it has ended or is staged; null is never.", isNullable: true),
            example: "2026-01-03T06:00:00Z"),
        ChoiceField(
            "after_batch", \.afterBatch,
            task:
                "Batch whose members have to complete before it starts; if one ends otherwise, this task fails with "
                + "dependency_failed. Members that were removed before do not count.",
            record: "Batch whose members have to complete before it starts.",
            change: .stopped(
                "Batch whose members have to complete before it starts; null is none; only while the task is not running.",
                isNullable: true), example: 4),
        ChoiceField(
            "after_group", \.afterGroup,
            task:
                "Group of the same owner: its tasks that are unfinished when this task is added must complete before "
                + "it starts. If one ends otherwise, this task fails with dependency_failed.",
            record: "Group whose tasks have to complete before it starts: those unfinished when it was added.",
            change: .stopped(
                "Group whose tasks have to complete before it starts: those that are unfinished now; null is none; "
                    + "only while the task is not running.", isNullable: true),
            limits: [.length(1...TaskLimits.nameLength), .visible], example: "nightly"),
        ChoiceField(
            "lease", \.lease,
            task:
                "Name of a lease: the task runs, and its file is published, only while the lease is in force; see "
                + "lease.renew.",
            record: "The lease that has to be in force while it runs.",
            change: .anytime("The lease that has to be in force while it runs; null is none.", isNullable: true),
            access: .operators, limits: [.length(1...TaskLimits.nameLength), .visible], example: "fleet"),
    ]
}
