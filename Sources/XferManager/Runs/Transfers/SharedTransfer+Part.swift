import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// The partial file: whether it is the one that was written, at each moment that counts.
///
/// While a run lives its descriptor is held, so that its inode number is nobody else's. Between runs it is known by a
/// `PartRecord`. It may lie in a directory that others can write to: whatever has its name is believed only when it is that
/// very file.
extension SharedTransfer {
    /// Opens the partial file cut back to what is committed. When it is not the file that was left, the resume data is
    /// committed away first, so that bytes of a new version never lie under old validators.
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

    /// What the file was like when it was left. Its times say nothing once it may be written to, and that is committed before:
    /// a crash later on finds other times than these.
    func beginWriting() async throws {
        keptRecord = transfer.resumeData.part
        guard transfer.resumeData.part?.rest != nil else { return }
        var resumeData = transfer.resumeData
        resumeData.part?.rest = nil
        let id = transfer.id
        try await services.store.write(.gathered) { [resumeData] tx in try tx.update(resumeData: resumeData, of: id) }
        transfer.resumeData = resumeData
    }

    /// Nobody writes to the file until somebody opens it again: what it is like now is what that one has to find.
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

    /// Throws unless the file has every byte; see `PartialFile.requireWhole`. Of a small one that is two system calls, which
    /// cost less than handing them over.
    func requireWhole(_ part: PartialFile, _ length: Int64) async throws -> FileFacts? {
        if length <= Self.largestSmall { return try part.requireWhole(length) }
        return try await services.pool.run { () throws(FileError) in try part.requireWhole(length) }
    }

    private static var largestSmall: Int64 { 1 << 20 }

    /// Somebody cut, removed or replaced the file while it was open: what is kept is given up for all who hold it. Answers what
    /// those who wait fail with; another try fetches everything again.
    func giveUpSpoiled(_ error: FileError) async -> any Error {
        do {
            try await dropKeptBytes(sourceChange: nil)
            return error.transferError
        } catch {
            return error
        }
    }
}
