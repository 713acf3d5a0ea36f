import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Handing the bytes out: everybody gets a file of its own.
///
/// The last one gets the original. Whoever takes the bytes while others still hold them gets a transfer of its own with a
/// copy in its own directory, and publishes that as any other. Nobody renames a file that somebody may be copying: until it
/// has moved to its copy, a task holds the original.
extension SharedTransfer {
    func handOut(_ body: WholeBody, to run: DownloadRun, in directory: DirectoryHandle) async throws
        -> DownloadRun.OwnedCopy
    {
        await handingOut.enter()
        defer { handingOut.leave() }
        let (id, task) = (transfer.id, run.taskID)
        let isHeld = isExclusive ? false : try await services.store.read { try $0.isHeld(id, but: task) }
        if !isHeld, !run.control.isStopRequested, body.part.directory.identity == directory.identity {
            // Publishing sets its times.
            try await beginWriting()
            forgetBody()
            return DownloadRun.OwnedCopy(
                transfer: transfer, part: body.part, described: body.described, isOriginal: true, facts: body.facts,
                holdingDigest: body.holdingDigest)
        }
        do {
            try await seal(body)
            if run.control.isStopRequested { throw FileError.cancelled }
            return try await copy(body, for: run, in: directory)
        } catch FileError.partChanged(let path, let problem) {
            let failure = await giveUpSpoiled(FileError.partChanged(path: path, problem: problem))
            forgetBody()
            throw failure
        }
    }

    private func copy(
        _ body: WholeBody, for run: DownloadRun, in directory: DirectoryHandle
    ) async throws -> DownloadRun.OwnedCopy {
        let (shared, pool, control) = (transfer.id, services.pool, run.control)
        let portion = try await run.ownedCopy(
            described: transfer.resumeData, from: transfer.sourceUse, length: body.length,
            for: "a copy of \(body.length) and the reserve",
            in: directory
        ) { part in
            try await pool.run { () throws(FileError) in
                // Through the descriptor that was held all the time: under the file's name may lie another one by now.
                try body.requireUnchanged()
                _ = try FileCopy.copy(
                    from: body.part.descriptor, to: part.descriptor, length: body.length,
                    isCancelled: { control.isStopRequested })
                try body.requireUnchanged()
            }
            return true
        } onMove: { tx, own in
            try tx.takeVersion(of: shared, for: own)
            return try tx.transfer(shared)?.sources ?? []
        }
        guard var portion else { throw TransferError(.internalError, "a copy came to nothing") }
        portion.holdingDigest = body.holdingDigest
        return portion
    }
}
