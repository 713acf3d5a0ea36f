import XferModel
import XferProtocol

/// Writes a staged download to standard output and ends its task, of which nothing is left: `xferctl add -o -`.
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
            guard error.status != .usage, error.status != .interrupted else {
                throw CommandFailure(
                    error.status,
                    (error.message.isEmpty ? "interrupted" : error.message)
                        + "; they are kept: `xferctl cat \(id) > FILE`, `xferctl commit \(id)` or `xferctl cancel \(id)`"
                )
            }
            try? discard()
            throw error
        }
        try discard()
        if status != .done { throw CommandFailure(status) }
    }

    private func discard() throws(CommandFailure) {
        let daemon = try options.open()
        _ = try daemon.call(TaskCancel.self, TaskSelection(ids: [id]))
        _ = try daemon.call(TaskRemove.self, TaskRemove.Params(TaskSelection(ids: [id])))
    }
}
