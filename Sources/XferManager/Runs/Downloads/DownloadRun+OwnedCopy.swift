import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Creates a task's own copy of bytes that are already here, from a shared transfer or the cache.
///
/// The transfer's row is committed before the file is created, and the task moves to it when the copy is durable. A
/// crash leaves a transfer without a task, which the next start discards.
extension DownloadRun {
    /// Bytes in a transfer that belongs to this task alone.
    struct OwnedCopy: Sendable {
        let transfer: Transfer
        let part: PartialFile
        let described: ResumeData
        /// True if this is the transfer that was shared.
        let isOriginal: Bool
        /// The file's metadata now that it is whole; nil where metadata cannot be relied on.
        let facts: FileFacts?
        /// The digest under which bytes were combined; see `WholeBody`.
        var bindingDigest: Checksum?
    }

    /// Creates a transfer of the task's own in its directory and moves the task to it.
    ///
    /// - Parameters:
    ///   - resumeData: the description of the bytes.
    ///   - sourceUse: the sources that sent them.
    ///   - purpose: the use of the space, for the error message.
    ///   - link: gives the complete file a second name in the directory; nil if it cannot.
    ///   - fill: writes the bytes into a new file; returns false if they are unusable.
    ///   - onMove: further changes in the transaction of the move; returns the servers that sent the bytes.
    /// - Returns: nil if `fill` returned false.
    func ownedCopy(
        described resumeData: ResumeData, from sourceUse: SourceUse = SourceUse(), length: Int64, for purpose: String,
        in directory: DirectoryHandle,
        linkedBy link: (@Sendable (_ name: String) async throws -> PartialFile?)? = nil,
        filledBy fill: @Sendable (PartialFile) async throws -> Bool,
        onMove: @escaping @Sendable (StoreTransaction, TransferID) throws -> [SourceEvidence]
    ) async throws -> OwnedCopy? {
        let now = services.clock()
        let partial = PartialLocation(directory: specification.destination.directory, identity: directory.identity)
        var own = try await services.store.write { try $0.transfers.insert(partial: partial, at: now) }
        own.resumeData = resumeData
        own.sourceUse = sourceUse
        let name = own.partialName
        do {
            defer { services.space.withLockedValue { [id = own.id] in $0.remove(id) } }
            let part: PartialFile
            if let linked = try await link?(name) {
                part = linked
            } else {
                // From here on the copy has the claim.
                services.space.withLockedValue { [taskID] in $0.remove(.copy(of: taskID)) }
                try await services.claim(length, by: own.id, in: directory, for: purpose)
                part = try await services.pool(in: directory).run { () throws(FileError) in
                    try PartialFile.create(in: directory, named: name)
                }
                guard try await fill(part) else {
                    await undo(own, in: directory)
                    return nil
                }
            }
            let (mark, facts) = try await services.pool(in: directory).run { () throws(FileError) in
                try part.sync()
                return (try part.mark(), try part.requireWhole(length))
            }
            own.resumeData.part = PartRecord(mark: mark)
            own.sources = try await move(to: own, onMove)
            return OwnedCopy(transfer: own, part: part, described: resumeData, isOriginal: false, facts: facts)
        } catch {
            await undo(own, in: directory)
            throw error
        }
    }

    private func move(
        to own: Transfer, _ onMove: @escaping @Sendable (StoreTransaction, TransferID) throws -> [SourceEvidence]
    ) async throws -> [SourceEvidence] {
        let (former, id) = (transfer.id, taskID)
        return try await services.store.write(.gathered) { tx in
            guard let found = try tx.tasks.find(id), found.transferID == former, found.state == .running else {
                throw Overtaken()
            }
            try tx.transfers.update(resumeData: own.resumeData, of: own.id)
            let sources = try onMove(tx, own.id)
            if own.sourceUse != SourceUse() { try tx.transfers.setSourceUse(own.sourceUse, of: own.id) }
            if !sources.isEmpty { try tx.transfers.setSources(sources, of: own.id) }
            var machine = TaskStateMachine(found)
            machine.subscribe(to: own.id)
            try tx.tasks.update(machine.task)
            return sources
        }
    }

    /// Deletes the copy. The next start removes files that cannot be removed now.
    private func undo(_ own: Transfer, in directory: DirectoryHandle) async {
        let name = own.partialName
        guard (try? await services.pool(in: directory).run({ try directory.remove(name) })) != nil else { return }
        try? await services.store.write { try $0.transfers.delete(own.id) }
    }
}

extension TransferID {
    /// The number under which a task claims room for the copy of its bytes on another file system. No transfer and no
    /// brief run has it: theirs are the numbers above 0 and their negatives.
    static func copy(of task: TaskID) -> TransferID { TransferID(Int64.min + max(0, task.rawValue)) }
}
