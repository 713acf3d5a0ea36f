import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl retry`: `task.retry` on ids or filters.
struct RetryCommand: SelectionVerb {
    typealias Method = TaskRetry

    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try failed tasks again.",
        discussion: """
            A retry goes on from the bytes that are kept.
            """)
    static let deed = "retried"
    static let states: Set<TaskState> = [.failed]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: VerbOptions
}
