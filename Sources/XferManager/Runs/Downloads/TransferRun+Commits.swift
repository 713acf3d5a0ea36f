import XferCore
import XferFiles
import XferModel
import XferStore

/// What a run writes down while it runs.
extension TransferRun {
    /// Makes the bytes up to `offset` durable, then commits the offset and what describes them.
    ///
    /// - Parameter isLast: the attempt is over; whoever goes on has to know who sent the bytes.
    func checkpoint(
        _ part: PartialFile, at offset: Int64, keeping described: ResumeData, isLast: Bool = false
    ) async throws {
        let sources = offset > 0 ? trust.unrecordedSources(isLast: isLast) : nil
        guard offset > committed || !pendingEvents.isEmpty || sources != nil else { return }
        if offset > committed { try await services.pool.run { try part.sync() } }
        var resumeData = described
        resumeData.segments = [Segment(start: 0, committed: offset)]
        let isDescriptionNew = transfer.resumeData.withoutSegments != resumeData.withoutSegments
        let now = services.clock()
        let id = transfer.id
        try await commit(.gathered) { [resumeData] tx, machine in
            if isDescriptionNew {
                try tx.update(resumeData: resumeData, of: id)
            } else {
                try tx.checkpoint(id, segments: resumeData.segments)
            }
            if let sources { try tx.setSources(sources, of: id) }
            machine.onCheckpoint(received: offset, total: resumeData.totalLength, at: now)
        }
        transfer.resumeData = resumeData
        if let sources { trust.noteRecorded(sources) }
        committed = offset
        control.note(received: offset, total: resumeData.totalLength)
    }

    /// Commits that what was kept is of another version or unusable; only then may its bytes be overwritten.
    ///
    /// - Parameter reason: how it was seen that the source is another version now; nil when it is not.
    func dropKeptBytes(sourceChange reason: String?) async throws {
        let id = transfer.id
        let hasSources = trust.hasRecordedSources
        let now = services.clock()
        try await commit(.immediate) { tx, machine in
            try tx.update(resumeData: ResumeData(), of: id)
            if hasSources { try tx.setSources([], of: id) }
            guard let reason, !machine.task.state.isTerminal else { return machine.onBytesLost() }
            let transition = machine.onSourceChanged(reason: reason)
            if let event = transition.event {
                try tx.append(event, taskID: machine.task.id, owner: machine.task.owner, at: now)
            }
        }
        transfer.resumeData = ResumeData()
        trust.forgetKept()
        committed = 0
        control.note(received: 0, total: nil)
    }

    /// Commits what a restart has to know about the publish: every byte is here, and which name they get. False when
    /// another task holds the name.
    ///
    /// - Parameter length: of the partial file; nil when it is not the one that is published.
    func commitIntent(_ intent: PublishIntent, length: Int64?, isReplacing: Bool, in directory: FileIdentity)
        async throws -> Bool
    {
        let resumeData = length.map { described.whole(length: $0) }
        let id = transfer.id
        let taskID = taskID
        let sources = trust.unrecordedSources(isLast: false)
        let now = services.clock()
        let isReserved = try await commit(.gathered) { tx, machine in
            guard machine.task.state == .running else { throw Overtaken() }
            guard try isReplacing || tx.reserve(intent.finalName, in: directory, by: taskID) else { return false }
            if let resumeData, let length {
                try tx.update(resumeData: resumeData, of: id)
                machine.onCheckpoint(received: length, total: length, at: now)
            }
            if let sources { try tx.setSources(sources, of: id) }
            try tx.setPublishIntent(intent, of: id)
            return true
        }
        if isReserved { transfer.publishIntent = intent }
        return isReserved
    }
}

extension ResumeData {
    /// As these, with every byte there.
    func whole(length: Int64) -> ResumeData {
        var copy = self
        copy.totalLength = length
        copy.segments = [Segment(start: 0, committed: length)]
        return copy
    }

    fileprivate var withoutSegments: ResumeData {
        var copy = self
        copy.segments = []
        return copy
    }
}
