import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl cancel`: `task.cancel` on ids or filters.
struct CancelCommand: SelectionVerb {
    typealias Method = TaskCancel

    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End tasks and delete their partial bytes.",
        discussion: """
            Published files are never touched.
            """)
    static let participle = "cancelled"
    static let states: Set<TaskState> = .unfinished

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: ActionOptions
}
