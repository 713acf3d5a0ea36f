import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// The changes that a download commits after the shared transfer has handed out the bytes to it.
extension DownloadRun {
    /// Makes the whole body durable and commits its length, so that a later run can publish it.
    func keep(_ part: PartialFile, length: Int64) async throws {
        let record = try await services.pool(in: part.directory).run { () throws(FileError) in
            try part.sync()
            return try part.restingRecord()
        }
        let id = transfer.id
        let resumeData = wholeResumeData(length, in: record)
        let sources = isOriginal ? trust.unrecordedSources(isLast: true) : nil
        let now = services.clock()
        try await commit(.gathered) { tx, machine in
            try tx.transfers.update(resumeData: resumeData, of: id)
            if let sources { try tx.transfers.setSources(sources, of: id) }
            machine.onCheckpoint(received: length, total: length, at: now)
        }
    }

    /// Commits that the transfer has no valid bytes, with an event that contains the reason. The file may be
    /// overwritten only after this commit.
    func dropBytes(because reason: String) async throws {
        let (id, senders, received) = (transfer.id, transfer.sourceUse, control.progress.received)
        let (task, owner, now) = (taskID, specification.owner, services.clock())
        services.logger.notice(
            "received bytes were discarded",
            metadata: ["task": "\(task)", "transfer": "\(id)", "reason": "\(reason)", "bytes": "\(received)"])
        try await commit(.immediate) { tx, machine in
            try tx.transfers.update(resumeData: ResumeData(), of: id)
            try tx.transfers.setSources([], of: id)
            if senders != SourceUse() { try tx.transfers.setSourceUse(senders.withoutBytes, of: id) }
            let committed = machine.task.received
            _ = machine.onBytesDiscarded(reason: reason)
            // The last bytes may not have been committed as received.
            let dropped = max(committed, received)
            guard dropped > 0, !machine.task.state.isTerminal else { return }
            try tx.events.append(
                .taskBytesDiscarded(reason: reason, dropped: dropped), taskID: task, owner: owner, at: now)
        }
        transfer.resumeData = ResumeData()
        control.setReceived(0, total: nil)
    }

    /// Commits that the transfer has neither a publish intent nor bytes, if `error` is `publishLost`, so that the next
    /// attempt fetches them again. Returns `error`, or the error of this commit.
    func forgettingLost(_ error: FileError) async -> any Error {
        guard case .publishLost = error else { return error }
        let (id, task) = (transfer.id, taskID)
        do {
            try await dropBytes(because: "\(error)")
            try await commit(.immediate) { tx, _ in
                try tx.transfers.setPublishIntent(nil, of: id)
                try tx.readyFiles.remove(of: task)
            }
            transfer.publishIntent = nil
            hasIntent = false
            return error
        } catch {
            return error
        }
    }

    /// Commits that no publish is in progress.
    func forgetIntent() async throws {
        let id = transfer.id
        try await commit(.immediate) { tx, _ in try tx.transfers.setPublishIntent(nil, of: id) }
        transfer.publishIntent = nil
        hasIntent = false
    }

    /// Excludes the source that sent bytes with a wrong digest, after the bytes were discarded.
    ///
    /// It becomes a suspect first, and may send the whole body again, past caches; see `MirrorSelector.suspect`.
    /// Returns false if no source is left.
    func suspectSources(because error: TransferError) async throws -> Bool {
        let (id, task, count) = (transfer.id, taskID, specification.sources.count)
        let isDemanded = specification.checksum != nil || bindingDigest != nil
        guard let use = MirrorSelector.suspect(transfer.sourceUse, count: count, isDemanded: isDemanded) else {
            return false
        }
        for (index, url) in specification.sources.enumerated()
        where count > 1 && transfer.sourceUse.senders.contains(index) {
            services.logger.notice(
                "a source was excluded",
                metadata: ["task": "\(task)", "transfer": "\(id)", "url": "\(url)", "reason": "\(error.message)"])
        }
        try await commit(.immediate) { tx, _ in try tx.transfers.setSourceUse(use, of: id) }
        return true
    }

    /// Returns the change to commit before publishing: it records that all bytes are present, and the final name. See
    /// `PublishingStage.Commit`.
    ///
    /// - Parameters:
    ///   - length: the length of the partial file in bytes; nil if the published file is one that a hook made.
    ///   - events: the events to append.
    ///   - isReported: true if the commit of an earlier intent has appended the events.
    func intentChange(
        length: Int64?, reporting events: [EventPayload], unless isReported: NIOLockedValueBox<Bool>,
        in directory: FileIdentity
    ) -> PublishingStage.Commit {
        let whole = length.map { wholeResumeData($0, in: nil) }
        let (id, transferID, facts) = (taskID, transfer.id, outcome)
        let sources = isOriginal ? trust.unrecordedSources(isLast: false) : nil
        let now = services.clock()
        return { tx, intent, isReplacing in
            guard let task = try tx.tasks.find(id), task.transferID == transferID, task.state == .running else {
                throw Overtaken()
            }
            guard try isReplacing || tx.reservations.reserve(intent.finalName, in: directory, by: id) else {
                return false
            }
            if !isReported.withLockedValue(\.self) {
                for event in events { try tx.events.append(event, taskID: id, owner: task.owner, at: now) }
            }
            var machine = TaskStateMachine(task)
            machine.setOutcome { $0 = facts }
            if var resumeData = whole, let length {
                resumeData.part = PartRecord(mark: intent.part.mark)
                try tx.transfers.update(resumeData: resumeData, of: transferID)
                machine.onCheckpoint(received: length, total: length, at: now)
            }
            if let sources { try tx.transfers.setSources(sources, of: transferID) }
            try tx.transfers.setPublishIntent(intent, of: transferID)
            try tx.tasks.update(machine.task, from: task)
            return true
        }
    }

    /// Commits that the file is ready and, unless a hook made the file, that all bytes are present.
    func commitReady(_ ready: ReadyFile, length: Int64) async throws {
        let resumeData =
            ready.isProcessed ? nil : wholeResumeData(length, in: ready.facts.map { PartRecord(mark: $0.mark) })
        let (id, transferID, now) = (taskID, transfer.id, services.clock())
        // The file may wait a long time before it is published. The policies in force then judge its sources.
        let sources = isOriginal ? trust.unrecordedSources(isLast: true) : nil
        try await commit(.gathered) { tx, machine in
            if let resumeData {
                try tx.transfers.update(resumeData: resumeData, of: transferID)
                machine.onCheckpoint(received: length, total: length, at: now)
            }
            if let sources { try tx.transfers.setSources(sources, of: transferID) }
            try tx.readyFiles.set(ready, of: id, transfer: transferID)
        }
    }

    private func wholeResumeData(_ length: Int64, in part: PartRecord?) -> ResumeData {
        var resumeData = described
        resumeData.part = part
        resumeData.totalLength = length
        resumeData.segments = [Segment(start: 0, committed: length)]
        return resumeData
    }
}
