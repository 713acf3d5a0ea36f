import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl retry`: `task.retry` on ids or filters.
struct RetryCommand: SelectionVerb {
    typealias Method = TaskRetry

    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry failed or cancelled tasks.",
        discussion: """
            A failed task continues from the kept bytes, a cancelled one starts from the beginning. Filters select \
            cancelled tasks only with --state cancelled.
            """)
    static let participle = "retried"
    static let states: Set<TaskState> = [.failed, .cancelled]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: ActionOptions
}
