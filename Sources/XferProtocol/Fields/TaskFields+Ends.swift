import StrictJSON
import XferModel

/// Where the file goes, what happens once its bytes are there, and when the task may run.
extension TaskFields {
    /// `dir` and `output` make up the place together and are declared beside each other in each record.
    static let destination: [ChoiceField<Destination.Choices>] = [
        ChoiceField(
            "on_conflict", \.onConflict,
            task:
                "If the name is taken: rename (name (1).ext), overwrite, skip, fail, or update (fetch only if newer); "
                + "default rename.",
            record: "What happens if the name is taken.",
            change: .stopped("If the name is taken; only while not running."), isOfDownloads: true),
        ChoiceField(
            "mode", \.mode, task: "Permission bits of the file, octal text.",
            record: "Permission bits of the file, octal text.", isOfDownloads: true, example: "0640"),
        ChoiceField(
            "remote_time", \.usesRemoteTime,
            task: "Give the file the server's Last-Modified time; default false.",
            record: "Whether the file takes the server's Last-Modified time.", isOfDownloads: true),
    ]

    static let completion: [ChoiceField<TaskCompletion.Choices>] = [
        ChoiceField(
            "finalize", \.finalize,
            task: "Of a download: auto publishes the file once it is whole and right, manual keeps it staged until "
                + "task.commit; default auto.",
            record: "Who gives the file its name: manual waits for task.commit.", isOfDownloads: true),
        ChoiceField(
            "post_process", \.postProcess,
            task: "Of a download: the operator's hook that works on the file before it is staged or published.",
            record: "The hook that works on the file before it is staged or published.", access: .guestHooks,
            isOfDownloads: true, limits: [.length(1...64)]),
        ChoiceField(
            "on_complete", \.onComplete, task: "The operator's hook that is told once the task has completed.",
            record: "The hook that is told once it has completed.", access: .guestHooks, limits: [.length(1...64)]),
        ChoiceField(
            "on_error", \.onError, task: "The operator's hook that is told once the task has failed.",
            record: "The hook that is told once it has failed.", access: .guestHooks, limits: [.length(1...64)]),
    ]

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
    ]

    static let access: [ChoiceField<AccessChoices>] = [
        ChoiceField(
            "credential", \.credential, task: "Who the service claims to be; sent to its origins only.",
            record: "Set when there is one; its values are ***.",
            profile: "Sent to its origins only; default is that of base_url. Shown as ***.",
            change: .stopped("Who the service claims to be; null is none; only while not running.", isNullable: true)),
        ChoiceField(
            "client_cert", \.clientCert,
            task: "Shown to servers of the URL's origin that ask for one; operators only.",
            record: "The task's own client certificate.",
            profile: "Shown to servers of base_url's origin that ask for a client certificate.", access: .operators),
        ChoiceField(
            "cookies", \.cookies, task: "Whether the profile's cookies are sent and kept; default is the profile's.",
            record: "Whether the profile's cookies are used.", isNullable: true),
        ChoiceField(
            "proxy", \.proxy, task: "The proxy to go through.",
            record: "The proxy it goes through; secrets are ***.",
            profile: "The proxy to go through; secrets are shown as ***.", access: .noProfileSecrets,
            example: "http://proxy.example.org:3128"),
    ]
}
