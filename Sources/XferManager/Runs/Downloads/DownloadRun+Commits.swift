import XferCore
import XferFiles
import XferModel
import XferStore

/// What a download writes down once the bytes are its own.
extension DownloadRun {
    /// Makes the whole body durable and commits it, so that a later run publishes it.
    func keep(_ part: PartialFile, length: Int64) async throws {
        try await services.pool.run { try part.sync() }
        let id = transfer.id
        let resumeData = wholeResumeData(length)
        let sources = isOriginal ? trust.unrecordedSources(isLast: true) : nil
        let now = services.clock()
        try await commit(.gathered) { tx, machine in
            try tx.update(resumeData: resumeData, of: id)
            if let sources { try tx.setSources(sources, of: id) }
            machine.onCheckpoint(received: length, total: length, at: now)
        }
    }

    /// Commits that the bytes are wrong; only then may they be overwritten.
    func dropBytes() async throws {
        let id = transfer.id
        try await commit(.immediate) { tx, machine in
            try tx.update(resumeData: ResumeData(), of: id)
            try tx.setSources([], of: id)
            machine.onBytesLost()
        }
        transfer.resumeData = ResumeData()
        control.note(received: 0, total: nil)
    }

    /// Commits what a restart has to know about the publish: every byte is here, and which name they get. False when
    /// another task holds the name.
    func commitIntent(_ intent: PublishIntent, length: Int64, isReplacing: Bool, in directory: FileIdentity)
        async throws -> Bool
    {
        let resumeData = wholeResumeData(length)
        let id = transfer.id
        let taskID = taskID
        let sources = isOriginal ? trust.unrecordedSources(isLast: false) : nil
        let now = services.clock()
        let isReserved = try await commit(.gathered) { tx, machine in
            guard machine.task.state == .running else { throw Overtaken() }
            guard try isReplacing || tx.reserve(intent.finalName, in: directory, by: taskID) else { return false }
            try tx.update(resumeData: resumeData, of: id)
            if let sources { try tx.setSources(sources, of: id) }
            try tx.setPublishIntent(intent, of: id)
            machine.onCheckpoint(received: length, total: length, at: now)
            return true
        }
        if isReserved { transfer.publishIntent = intent }
        return isReserved
    }

    private func wholeResumeData(_ length: Int64) -> ResumeData {
        var resumeData = described
        resumeData.totalLength = length
        resumeData.segments = [Segment(start: 0, committed: length)]
        return resumeData
    }
}
