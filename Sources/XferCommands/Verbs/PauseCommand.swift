import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl pause`: `task.pause` on ids or filters.
struct PauseCommand: SelectionVerb {
    typealias Method = TaskPause

    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause tasks, keeping their bytes.",
        discussion: """
            Running tasks stop at their last durable byte; `xferctl resume` continues from there. After --all \
            these tasks cannot be distinguished from those that were paused before: `xferctl queue pause --running` stops \
            all and changes none of them.
            """,
        aliases: ["stop"])
    static let participle = "paused"
    static let states: Set<TaskState> = [.queued, .waiting, .running]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: ActionOptions
}
