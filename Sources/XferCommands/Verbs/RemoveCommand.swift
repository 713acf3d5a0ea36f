import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl remove`: `task.remove` on ids or filters.
struct RemoveCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove ended tasks, with --files their files, too.",
        discussion: """
            Only completed, failed and cancelled tasks can be removed. The files that they published stay, unless \
            --files deletes them; a file that was replaced or changed since then stays in any case.
            """,
        aliases: ["rm"])
    static let participle = "removed"
    static let states: Set<TaskState> = [.completed, .failed, .cancelled]

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Delete the files that the tasks published, too.")
    var files = false

    @Flag(help: "With --files and a filter: delete the files of all tasks that match.")
    var yes = false

    @OptionGroup var options: ActionOptions

    mutating func validate() throws { try selection.check() }

    func run() throws {
        let daemon = try options.open()
        let chosen = try selection.selection(daemon)
        guard !files || chosen.filter == nil || yes else {
            throw CommandFailure.usage(
                "--files with a filter deletes the files of all tasks that match; add --yes if that is intended")
        }
        let answer = try OperationWaiter.result(of: TaskRemove.self, chosen, daemon, options) {
            TaskRemove.Params($0, files: files)
        }
        options.show(answer) { result, _ in
            let reason = SelectionReason(selection, daemon)
            return SelectionText.lines(result, participle: Self.participle, states: Self.states, reason: reason)
                + RemovedFilesText.lines(result.files)
        }
        try SelectionText.refuseMissing(in: answer.value, among: selection.singles)
        if case .ids(let listed) = answer.value, listed.unchanged.contains(where: { $0.reason == "file_kept" }) {
            throw CommandFailure(.refused, "some files could not be deleted; their tasks stay")
        }
    }
}

/// The text about deleted files.
enum RemovedFilesText {
    static func lines(_ files: SelectionResult.RemovedFiles?) -> [String] {
        guard let files else { return [] }
        let deleted = "\(files.deleted) file\(files.deleted == 1 ? "" : "s") deleted"
        let kept = files.kept.prefix(20).map {
            "kept: \(SafeText.sanitised($0.path)) of #\($0.id): \(SafeText.sanitised($0.reason))"
        }
        let rest = files.keptCount - kept.count
        return [deleted] + kept + (rest > 0 ? ["and \(rest) more files kept"] : [])
    }
}
