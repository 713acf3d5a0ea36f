import StrictJSON
import XferModel

/// The fields of the file, and of the steps after its last byte.
extension TaskFields {
    /// `dir` and `output` make up the place together and are declared beside each other in each record.
    static let destination: [ChoiceField<Destination.Choices>] = [
        ChoiceField(
            "on_conflict", \.onConflict,
            task:
                "Action if the name is taken: rename (name (1).ext), overwrite, skip, fail, update (fetch unless it is the "
                + "current version and xferd fetched it), "
                + "verify (fetch unless the file has the checksum), or continue (fetch the rest of what another program "
                + "left); default rename.",
            record: "Action if the name is taken.",
            change: .stopped("Action if the name is taken; only while the task is not running."), isOfDownloads: true),
        ChoiceField(
            "mode", \.mode, task: "Permission bits of the file, octal text.",
            record: "Permission bits of the file, octal text.", isOfDownloads: true, example: "0640"),
        ChoiceField(
            "remote_time", \.usesRemoteTime,
            task: "Give the file the server's Last-Modified time; default false.",
            record: "True if the file gets the server's Last-Modified time.", isOfDownloads: true),
        ChoiceField(
            "allow_hidden", \.allowsHidden,
            task:
                "Allow a path with a hidden component directly beneath a home directory, such as ~/.ssh; default false. "
                + "Without the scope operate, a token cannot write to hidden paths.",
            record: "True if the path may have a hidden component directly beneath a home directory.",
            change: .stopped(
                "Allow a path with a hidden component directly beneath a home directory; only while not "
                    + "running."), isOfDownloads: true),
    ]

    static let completion: [ChoiceField<TaskCompletion.Choices>] = [
        ChoiceField(
            "finalize", \.finalize,
            task:
                "For a download: auto publishes the file once it is complete and verified, manual keeps it staged "
                + "until "
                + "task.commit; default auto.",
            record: "Publishing of the file: auto, or manual, which waits for task.commit.", isOfDownloads: true),
        ChoiceField(
            "post_process", \.postProcess,
            task: "For a download: the operator's hook that processes the file before it is staged or published.",
            record: "The hook that processes the file before it is staged or published.", access: .guestHooks,
            isOfDownloads: true, limits: [.length(1...64)]),
        ChoiceField(
            "on_complete", \.onComplete, task: "The operator's hook that runs when the task has completed.",
            record: "The hook that runs when it has completed.", access: .guestHooks, limits: [.length(1...64)]),
        ChoiceField(
            "on_error", \.onError, task: "The operator's hook that runs when the task has failed.",
            record: "The hook that runs when it has failed.", access: .guestHooks, limits: [.length(1...64)]),
        ChoiceField(
            "on_end", \.onEnd,
            task:
                "Webhooks of the operator that get the event of the task's end, in addition to those that get such "
                + "events "
                + "anyway.",
            record: "Webhooks that get the event of its end, in addition to those that get such events anyway.",
            access: .guestHooks, limits: [.count(1...16)], example: ["deploy"]),
    ]
}
