import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Handing the bytes out: everybody gets a file of its own.
///
/// The last one gets the original. Whoever takes the bytes while others still hold them gets a transfer of its own with a
/// copy in its own directory, and publishes that as any other. The row comes before the file, and the task moves to it when
/// the copy is durable: what a crash leaves is a transfer without a task, which the next start discards. Nobody renames a
/// file that somebody may be copying: until it has moved to its copy, a task holds the original.
extension SharedTransfer {
    /// The bytes as a task's own.
    struct Portion: Sendable {
        let transfer: Transfer
        let part: PartialFile
        let described: ResumeData
        /// Whether this is the transfer all shared.
        let isOriginal: Bool
    }

    func handOut(_ body: WholeBody, to run: DownloadRun, in directory: DirectoryHandle) async throws -> Portion {
        await handingOut.enter()
        defer { handingOut.leave() }
        if run.control.isStopRequested {
            try await seal(body)
            throw FileError.cancelled
        }
        let (id, task) = (transfer.id, run.taskID)
        let isHeld = try await services.store.read { try $0.isHeld(id, but: task) }
        if !isHeld, body.part.directory.identity == directory.identity {
            forgetBody()
            return Portion(transfer: transfer, part: body.part, described: body.described, isOriginal: true)
        }
        try await seal(body)
        return try await copy(body, for: run, in: directory)
    }

    private func copy(_ body: WholeBody, for run: DownloadRun, in directory: DirectoryHandle) async throws -> Portion {
        let (store, pool, control) = (services.store, services.pool, run.control)
        let now = services.clock()
        let partial = PartialLocation(
            directory: run.specification.destination.directory, identity: directory.identity)
        var own = try await store.write { try $0.insertTransfer(partial: partial, at: now) }
        let name = own.partialName
        do {
            try await claim(body.length, by: own.id, in: directory, for: "a copy of \(body.length) and the reserve")
            defer { services.space.withLockedValue { [id = own.id] in $0.remove(id) } }
            let part = try await pool.run { () throws(FileError) in
                let part = try PartialFile.create(in: directory, named: name)
                _ = try FileCopy.copy(
                    from: body.part.descriptor, to: part.descriptor, length: body.length,
                    isCancelled: { control.isStopRequested })
                try part.sync()
                return part
            }
            own.resumeData = transfer.resumeData
            own.sourceUse = transfer.sourceUse
            own.sources = try await move(run, to: own)
            return Portion(transfer: own, part: part, described: body.described, isOriginal: false)
        } catch {
            await undo(own, in: directory)
            throw error
        }
    }

    /// The copy is the task's from now on. Answers who sent its bytes.
    private func move(_ run: DownloadRun, to own: Transfer) async throws -> [SourceEvidence] {
        let (shared, task) = (transfer.id, run.taskID)
        return try await services.store.write(.gathered) { tx in
            guard let found = try tx.task(task), found.transferID == shared, found.state == .running else {
                throw Overtaken()
            }
            let sources = try tx.transfer(shared)?.sources ?? []
            try tx.update(resumeData: own.resumeData, of: own.id)
            if !sources.isEmpty { try tx.setSources(sources, of: own.id) }
            if own.sourceUse != SourceUse() { try tx.setSourceUse(own.sourceUse, of: own.id) }
            try tx.takeVersion(of: shared, for: own.id)
            var machine = TaskStateMachine(found)
            machine.subscribe(to: own.id)
            try tx.update(machine.task)
            return sources
        }
    }

    /// What cannot be removed now goes at the next start.
    private func undo(_ own: Transfer, in directory: DirectoryHandle) async {
        let name = own.partialName
        guard (try? await services.pool.run({ try directory.remove(name) })) != nil else { return }
        try? await services.store.write { try $0.deleteTransfer(own.id) }
    }
}
