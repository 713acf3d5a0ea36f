import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl resume`: `task.resume` on ids or filters.
struct ResumeCommand: SelectionVerb {
    typealias Method = TaskResume

    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused tasks.",
        discussion: """
            A task that waits for its next attempt, the network or a host starts now. --all also resumes tasks that \
            were paused on purpose; `xferctl queue resume` ends a pause of the queue and leaves those paused.
            """,
        aliases: ["start"])
    static let participle = "resumed"
    static let states: Set<TaskState> = [.paused, .waiting]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: ActionOptions
}
