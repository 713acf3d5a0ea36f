import Logging
import XferCore
import XferFiles
import XferModel

/// Begins with the bytes of a file that another program has left.
extension SharedTransfer {
    /// Copies the bytes of a file that another program has left into the empty partial file, and commits them as kept.
    /// Does nothing if bytes are kept already.
    func adopt(_ adopted: AdoptedFile?, into part: PartialFile, in directory: DirectoryHandle) async throws {
        guard let adopted, kept.committed == 0 else { return }
        let data = adopted.resumeData
        try await services.claim(adopted.end, by: transfer.id, in: directory, for: "a copy of \(adopted.source.path)")
        let control = control
        do {
            let isUnchanged = try await services.paths.digests(in: directory).run { () throws(FileError) in
                try adopted.copy(to: part, isCancelled: { control.isStopRequested })
            }
            guard isUnchanged else {
                throw TransferError(
                    .destinationExists,
                    "\(adopted.source.path) cannot be continued: another program writes to it; wait until it has ended")
            }
        } catch {
            try await services.pool(in: directory).run { try part.truncate(to: 0) }
            // The run notices the request to stop before its first attempt.
            if case FileError.cancelled = error { return }
            throw error
        }
        describe(data)
        try await checkpoint(part, at: data.segments, keeping: data)
        services.logger.info(
            "a file of another program is continued",
            metadata: [
                "task": "\(taskID)", "transfer": "\(transfer.id)", "path": "\(adopted.source.path)",
                "bytes": "\(data.committedByteCount)",
            ])
    }
}
