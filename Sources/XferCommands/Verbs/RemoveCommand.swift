import ArgumentParser
import XferProtocol

/// `xferctl remove`: `task.remove` on ids or filters.
struct RemoveCommand: SelectionVerb {
    typealias Method = TaskRemove

    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget ended tasks.",
        discussion: """
            Only completed, failed and cancelled tasks can be removed. Published files are never touched.
            """,
        aliases: ["rm"])
    static let deed = "removed"

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var options: VerbOptions
}
