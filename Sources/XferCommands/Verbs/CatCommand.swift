import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl cat`: a task's bytes, with `task.read`.
struct CatCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "cat", abstract: "Write a task's bytes to standard output, also while they arrive.",
        discussion: """
            For a download that has not ended, these are the bytes received so far; for a completed one, its file; for \
            data tasks and uploads, the response. With -f it continues until the task has ended, and exits with 0 when \
            it completed or is staged, 1 when it failed or was cancelled. If the source changes meanwhile, it stops \
            with an error: the bytes that it wrote are of one version.
            """)
    static let states: Set<TaskState> = Set(TaskState.allCases)

    @OptionGroup var task: TaskArgument

    @Flag(name: [.customShort("f"), .long], help: "Follow the bytes until the task has ended.")
    var follow = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        var reader = try ByteReader(task.id, options: connection)
        let status = try follow ? reader.follow() : reader.readAll()
        if status != .done { throw CommandFailure(status) }
    }
}
