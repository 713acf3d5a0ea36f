import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Creates a file for each task.
///
/// The last task that uses the bytes gets the original, if it lies in the task's directory. Another one gets a transfer
/// of its own with a copy in its directory, and publishes that. A task uses the original until it has moved to its copy,
/// so that no task renames a file that another may be copying.
extension SharedTransfer {
    func handOut(_ body: WholeBody, to run: DownloadRun, in directory: DirectoryHandle) async throws
        -> DownloadRun.OwnedCopy
    {
        await handingOut.enter()
        defer { handingOut.leave() }
        let (id, task) = (transfer.id, run.taskID)
        // The lock `handingOut`, not actor isolation, keeps this true until the original is given away: another holder
        // moves to its copy only under the lock, and no task joins a transfer whose body has ended.
        let isUsed =
            started.isExclusive ? false : try await services.store.read { try $0.transfers.isUsed(id, but: task) }
        if !isUsed, !run.control.isStopRequested, body.part.directory.identity == directory.identity {
            // Publishing changes the file's times, so the recorded ones are removed first.
            try await kept.beginWriting()
            forgetBody()
            return DownloadRun.OwnedCopy(
                transfer: transfer, part: body.part, described: body.described, isOriginal: true, facts: body.facts,
                bindingDigest: body.bindingDigest)
        }
        do {
            try await seal(body)
            if run.control.isStopRequested { throw FileError.cancelled }
            return try await copy(body, for: run, in: directory, isLast: !isUsed)
        } catch FileError.partChanged(let path, let problem) {
            let failure = await giveUpSpoiled(FileError.partChanged(path: path, problem: problem))
            forgetBody()
            throw failure
        }
    }

    /// Makes the copy. The last task that uses the bytes gets the file itself, by a second name, if that is possible in
    /// its directory; the first name is removed when the task has moved.
    private func copy(
        _ body: WholeBody, for run: DownloadRun, in directory: DirectoryHandle, isLast: Bool
    ) async throws -> DownloadRun.OwnedCopy {
        let (shared, pool, control) = (transfer.id, services.paths.digests(in: directory), run.control)
        let isLinked = NIOLockedValueBox(false)
        let copy = try await run.ownedCopy(
            described: transfer.resumeData, from: transfer.sourceUse, length: body.length,
            for: services.incomplete.contains(transfer.partial.directory) ? "the file" : "a copy of shared bytes",
            in: directory,
            linkedBy: { name in
                guard isLast else { return nil }
                let linked = try await pool.run { () throws(FileError) -> PartialFile? in
                    try body.requireUnchanged()
                    return try PartialFile.link(body.part, in: directory, named: name)
                }
                isLinked.withLockedValue { $0 = linked != nil }
                return linked
            }
        ) { part in
            try await pool.run { () throws(FileError) in
                // Reads through the open descriptor: the name may refer to another file by now.
                try body.requireUnchanged()
                _ = try FileCopy.copy(
                    from: body.part.descriptor, to: part.descriptor, length: body.length,
                    isCancelled: { control.isStopRequested })
                try body.requireUnchanged()
            }
            return true
        } onMove: { tx, own in
            try tx.transfers.copyVersion(of: shared, for: own)
            return try tx.transfers.find(shared)?.sources ?? []
        }
        guard var copy else { throw TransferError(.internalError, "a copy of shared bytes could not be made") }
        copy.bindingDigest = body.bindingDigest
        if isLinked.withLockedValue(\.self) {
            forgetBody()
            let former = body.part
            // The transfer is discarded with the name, if that cannot be done now.
            _ = try? await services.pool(in: former.directory).run { try former.directory.remove(former.name) }
        }
        return copy
    }
}
