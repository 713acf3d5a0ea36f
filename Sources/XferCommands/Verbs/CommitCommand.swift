import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl commit`: `task.commit` on ids or filters.
struct CommitCommand: SelectionVerb {
    typealias Method = TaskCommit

    static let configuration = CommandConfiguration(
        commandName: "commit",
        abstract: "Publish staged downloads.",
        discussion: """
            A download added with --finalize manual is staged when it is whole, verified and processed; this gives it \
            its final name. Where that cannot be done, it stays staged, and `xferctl update` can change --output and \
            --on-conflict.
            """)
    static let participle = "committed"
    static let states: Set<TaskState> = [.staged]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: ActionOptions
}
