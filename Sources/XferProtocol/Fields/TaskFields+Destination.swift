import StrictJSON
import XferModel

/// The fields of the file, and of the steps after its last byte.
extension TaskFields {
    /// `dir` and `output` make up the place together and are declared beside each other in each record.
    static let destination: [ChoiceField<Destination.Choices>] = [
        ChoiceField(
            "on_conflict", \.onConflict,
            task:
                "If the name is taken: rename (name (1).ext), overwrite, skip, fail, update (fetch only if newer), or verify "
                + "(fetch unless the file has the checksum); default rename.",
            record: "What happens if the name is taken.",
            change: .stopped("If the name is taken; only while not running."), isOfDownloads: true),
        ChoiceField(
            "mode", \.mode, task: "Permission bits of the file, octal text.",
            record: "Permission bits of the file, octal text.", isOfDownloads: true, example: "0640"),
        ChoiceField(
            "remote_time", \.usesRemoteTime,
            task: "Give the file the server's Last-Modified time; default false.",
            record: "Whether the file takes the server's Last-Modified time.", isOfDownloads: true),
        ChoiceField(
            "allow_hidden", \.allowsHidden,
            task:
                "Allow a path with a hidden component directly beneath a home directory, such as ~/.ssh; default false. "
                + "Tokens without the scope operate write to no hidden path.",
            record: "True if the path may have a hidden component directly beneath a home directory.",
            change: .stopped(
                "Allow a path with a hidden component directly beneath a home directory; only while not "
                    + "running."), isOfDownloads: true),
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
        ChoiceField(
            "on_end", \.onEnd,
            task: "The operator's webhooks that get the event of the task's end, beside those that get such events "
                + "anyway.",
            record: "The webhooks that get the event of its end, beside those that get such events anyway.",
            access: .guestHooks, limits: [.count(1...16)], example: ["deploy"]),
    ]
}
