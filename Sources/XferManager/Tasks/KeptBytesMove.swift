import Logging
import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// The kept bytes of a task that gets another directory: they are copied durably, the change of the directory is
/// committed, then the old file is deleted.
///
/// Nothing is locked meanwhile. The commit compares the transfer with the copied one, and a task that has been started
/// is refused before that. Both directories are recorded before the copy is made: after a crash the next start searches
/// them for the file to which no row refers.
struct KeptBytesMove: Sendable {
    /// The transfer that was read before the copy.
    private let transfer: Transfer
    private let source: DirectoryHandle
    private let target: DirectoryHandle
    /// The transfer's resume data, with the record of the copy.
    private let resumeData: ResumeData

    /// Copies the kept bytes of a task into its new directory. Returns nil if there is nothing to move: no bytes, bytes
    /// that other tasks need as well, or a file that is not the one that was left.
    ///
    /// - Throws: `FileError` if the copy cannot be made, for example for lack of space.
    init?(of task: TransferTask, to wanted: Destination, _ context: ManagerContext) async throws {
        let (services, settings) = (context.services, context.settings.withLockedValue(\.self))
        guard task.state != .running, task.specification.kind == .download, let id = task.transferID else { return nil }
        let found = try await services.store.read { reader -> Transfer? in
            guard let transfer = try reader.transfers.find(id), transfer.publishIntent == nil,
                transfer.resumeData.segments.contains(where: { $0.committed > $0.start }),
                try !reader.transfers.isUsed(id, but: task.id), try reader.readyFiles.names(of: id).isEmpty
            else { return nil }
            return transfer
        }
        guard let transfer = found, let identity = wanted.directoryIdentity,
            !services.incomplete.isPlace(of: transfer, for: task.specification)
        else { return nil }
        self.transfer = transfer
        do {
            source = try await DestinationDirectory.open(
                transfer, for: task.specification, settings, services, .reading)
            target = try await DestinationDirectory.open(
                PartialLocation(directory: wanted.directory, identity: identity), for: task.owner, wanted.confinement,
                settings, services)
        } catch is TransferError {
            // One of them is not there now: the task will say so, and fetch the bytes again.
            return nil
        }
        guard source.identity != target.identity else { return nil }
        let directories = [source.path, target.path]
        try await services.store.write { try SweptDirectories.add(directories, in: $0) }
        guard let record = try await Self.copy(transfer, from: source, to: target, context) else { return nil }
        var resumeData = transfer.resumeData
        resumeData.part = record
        self.resumeData = resumeData
    }

    private static func copy(
        _ transfer: Transfer, from source: DirectoryHandle, to target: DirectoryHandle, _ context: ManagerContext
    ) async throws -> PartRecord? {
        let (name, kept) = (transfer.partialName, transfer.resumeData)
        let end = kept.segments.map(\.committed).max() ?? 0
        let (isEnding, space) = (context.isShuttingDown, context.services.space)
        return try await context.services.paths.digests(in: target).run { () throws(FileError) -> PartRecord? in
            guard
                let part = try PartialFile.openKept(in: source, named: name, segments: kept.segments, record: kept.part)
            else { return nil }
            defer { part.close() }
            // What an interrupted move has left.
            try target.remove(name)
            let copy = try PartialFile.create(in: target, named: name)
            defer { copy.close() }
            do throws(FileError) {
                try space.claiming(end, in: target) { (onProgress) throws(FileError) in
                    _ = try FileCopy.copy(
                        from: part.descriptor, to: copy.descriptor, length: end,
                        isCancelled: { isEnding.withLockedValue(\.self) }, onProgress: onProgress)
                }
                try copy.sync(.everything)
                return try copy.restingRecord()
            } catch {
                _ = try? target.remove(name)
                throw error
            }
        }
    }

    /// Moves the transfer within the transaction that changes the task. False if the transfer has changed since the
    /// copy.
    func commit(of task: TransferTask, in tx: StoreTransaction) throws -> Bool {
        guard task.transferID == transfer.id, let present = try tx.transfers.find(transfer.id),
            present.resumeData == transfer.resumeData, present.partial == transfer.partial,
            present.publishIntent == nil, try !tx.transfers.isUsed(transfer.id, but: task.id)
        else { return false }
        try tx.transfers.update(
            partial: PartialLocation(directory: target.path, identity: target.identity), of: transfer.id)
        try tx.transfers.update(resumeData: resumeData, of: transfer.id)
        return true
    }

    /// Deletes the file that is not needed: the old one after the commit, else the copy.
    func end(isCommitted: Bool, _ context: ManagerContext) async {
        let (directory, name) = (isCommitted ? source : target, transfer.partialName)
        do {
            try await context.services.pool(in: directory).run {
                try directory.remove(name)
                try directory.sync()
            }
        } catch {
            context.services.logger.report(
                "a copy of kept bytes could not be deleted; the next start tries again", error,
                ["directory": "\(directory.path)"])
        }
    }
}

/// Directories, in addition to those of tasks, in which the next start searches for working files that no row refers
/// to.
enum SweptDirectories {
    private static let key = "sweep.directories"
    /// Paths that are admitted have no control characters.
    private static let separator: Character = "\n"
    /// The limit beyond which the earliest leases are removed.
    private static let maxCount = 1000

    static func all(in reader: StoreReader) throws -> [String] {
        try reader.settings.find(key).map { $0.split(separator: separator).map { String($0) } } ?? []
    }

    static func add(_ directories: [String], in tx: StoreTransaction) throws {
        let known = try all(in: tx).filter { !directories.contains($0) }
        try tx.settings.set(key, (known + directories).suffix(maxCount).joined(separator: String(separator)))
    }

    static func remove(_ directories: [String], in tx: StoreTransaction) throws {
        let rest = try all(in: tx).filter { !directories.contains($0) }
        try tx.settings.set(key, rest.isEmpty ? nil : rest.joined(separator: String(separator)))
    }
}
