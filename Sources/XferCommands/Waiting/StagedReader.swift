import XferModel
import XferProtocol

/// Writes a staged download to standard output and ends its task, leaving no file: `xferctl add -o -`.
struct StagedReader {
    let id: TaskID
    let options: VerbOptions

    func run() throws(CommandFailure) {
        let status: ExitStatus
        do throws(CommandFailure) {
            var reader = try ByteReader(id, options: options.connection)
            status = try reader.readAll()
        } catch {
            // A terminal was spared: the bytes were fetched, and may be wanted elsewhere.
            guard error.status != .usage else {
                throw CommandFailure(
                    error.status,
                    error.message
                        + "; they are kept: \(SuggestedCommand.text("cat \(id) > FILE")), \(SuggestedCommand.text("commit \(id)")) or \(SuggestedCommand.text("cancel \(id)"))"
                )
            }
            throw abandoned(error)
        }
        try discard()
        if status != .done { throw CommandFailure(status) }
    }

    /// Ends the task, as nothing will read its bytes after an interruption or a timeout.
    ///
    /// - Returns: the failure, with the task's final state.
    func abandoned(_ failure: CommandFailure) -> CommandFailure {
        let cause =
            switch failure.status {
            case .interrupted: "interrupted"
            case .timedOut: "time is up"
            default: failure.message
            }
        do throws(CommandFailure) {
            try discard()
            return CommandFailure(failure.status, "\(cause); #\(id) is cancelled")
        } catch {
            return CommandFailure(failure.status, "\(cause); end #\(id) with \(SuggestedCommand.text("cancel \(id)"))")
        }
    }

    private func discard() throws(CommandFailure) {
        let daemon = try options.open()
        _ = try daemon.call(TaskCancel.self, TaskSelection(ids: [id]))
        _ = try daemon.call(TaskRemove.self, TaskRemove.Params(TaskSelection(ids: [id])))
    }
}
