import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// The partial file, and the checks that it is still the file this service wrote.
///
/// While a run lives, it holds the file's descriptor, so that no other file can get its inode number. Between runs a
/// `PartRecord` identifies the file. Other users may be able to write to its directory: a file with its name is used
/// only if it is the recorded file.
extension SharedTransfer {
    /// Opens the partial file and truncates it to the committed bytes. If it is not the file that was left, the resume
    /// data is dropped in a commit first, so that bytes of a new version never have old validators.
    func openPart(in directory: DirectoryHandle) async throws -> PartialFile {
        mark = nil
        try await beginWriting()
        let name = transfer.partialName
        let (segments, record) = (transfer.resumeData.segments, keptRecord)
        let isNew = isExclusive
        let (part, remains) = try await services.pool.run {
            try PartialFile.restore(in: directory, named: name, segments: segments, record: record, isNew: isNew)
        }
        switch remains {
        case .intact:
            committed = transfer.resumeData.committedByteCount
        case .void(let problem):
            services.logger.notice(
                "the partial file is not what was left: its bytes are fetched again",
                metadata: [
                    "task": "\(taskID)", "transfer": "\(transfer.id)", "path": "\(part.path)", "reason": "\(problem)",
                ])
            try await dropKeptBytes(sourceChange: nil)
        }
        described = transfer.resumeData
        control.note(received: committed, total: transfer.resumeData.totalLength)
        return part
    }

    /// Commits that the file's recorded times no longer count, before the file may be written to: after a crash its
    /// times differ from the record.
    func beginWriting() async throws {
        keptRecord = transfer.resumeData.part
        guard transfer.resumeData.part?.rest != nil else { return }
        var resumeData = transfer.resumeData
        resumeData.part?.rest = nil
        let id = transfer.id
        try await services.store.write(.gathered) { [resumeData] tx in try tx.update(resumeData: resumeData, of: id) }
        transfer.resumeData = resumeData
    }

    /// Records what the next run must find: the file is not written to until a run opens it again.
    func leaveAtRest(_ part: PartialFile) async throws {
        guard committed > 0 else { return }
        let record = try await services.pool.run { () throws(FileError) in try part.restingRecord() }
        guard record.rest != nil, record != transfer.resumeData.part else { return }
        var resumeData = transfer.resumeData
        resumeData.part = record
        let id = transfer.id
        try await services.store.write(.gathered) { [resumeData] tx in try tx.update(resumeData: resumeData, of: id) }
        transfer.resumeData = resumeData
    }

    /// Throws unless the file has every byte; see `PartialFile.requireWhole`. A small file is checked on the actor: two
    /// system calls cost less than a switch to the pool.
    func requireWhole(_ part: PartialFile, _ length: Int64) async throws -> FileFacts? {
        if length <= Self.largestSmall { return try part.requireWhole(length) }
        return try await services.pool.run { () throws(FileError) in try part.requireWhole(length) }
    }

    private static var largestSmall: Int64 { 1 << 20 }

    /// Drops the kept bytes for all tasks that hold them, because another process truncated, removed or replaced the
    /// open file. Returns the error for the waiting members; the next try fetches everything again.
    func giveUpSpoiled(_ error: FileError) async -> any Error {
        do {
            try await dropKeptBytes(sourceChange: nil)
            return error.transferError
        } catch {
            return error
        }
    }
}
