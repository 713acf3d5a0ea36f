import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// The reason why kept bytes are discarded.
struct Discard: Sendable {
    /// Completes "the bytes are discarded because".
    let reason: String
    /// True if the source has another version, or may have.
    var isSourceChange = false

    init(_ reason: String, isSourceChange: Bool = false) {
        self.reason = reason
        self.isSourceChange = isSourceChange
    }

    init(_ reason: RestartReason) { self.init(reason.description, isSourceChange: reason.isSourceChange) }
}

/// The bytes of a transfer in its partial file, and the row that describes them.
///
/// Confined to the `SharedTransfer` that owns it: all methods run in that actor's isolation. Invariants: `committed` is
/// never ahead of the durable bytes. Kept bytes are discarded by a commit before anything is written over them.
///
/// The methods suspend between reading `transfer` and writing it. That is safe because the owner has one writer at a
/// time: `SegmentedDownload` makes one checkpoint after the other, bytes are discarded only while no other attempt is
/// live, and every other change happens before the first attempt or after the last.
final class KeptBytes {
    private let context: RunContext
    private(set) var transfer: Transfer
    /// Durable bytes, as committed.
    private(set) var committed: Int64 = 0
    /// The first offset after all durable bytes, which may have gaps before them.
    var durableEnd: Int64 { transfer.resumeData.segments.map(\.committed).max() ?? 0 }
    /// Validators, length and segments of the bytes in the partial file, including bytes not yet checkpointed.
    var described = ResumeData()
    /// The digest that verifies kept bytes which no validator proves to be of one version, or to be complete. It is
    /// stored because the member that demanded it may leave. Nil if `SourceUse.unprovenFrom` is nil.
    var bindingDigest: Checksum?
    let space: SpaceReserve
    /// The identity of the partial file; nil until the first checkpoint.
    private var mark: FileMark?
    /// The record of the partial file at the time when the last run closed it.
    private var closedRecord: PartRecord?

    init(_ context: RunContext, _ transfer: Transfer) {
        self.context = context
        self.transfer = transfer
        space = SpaceReserve(context.services, transfer.id)
    }

    private var services: RunServices { context.services }
    private var trust: RunTrust { context.trust }

    // MARK: Opening and closing

    /// Reads the row again, at the start of a further run.
    ///
    /// - Throws: `Overtaken` if the row was deleted.
    func reload() async throws {
        guard let found = try await services.store.read({ [id = transfer.id] in try $0.transfers.find(id) }) else {
            throw Overtaken()
        }
        transfer = found
        // A task that had these bytes as its own may have discarded them.
        if found.sourceUse.unprovenFrom == nil { bindingDigest = nil }
        trust.restart(kept: found.sources)
    }

    /// Commits that the file's recorded times no longer count, before the file may be written to: after a crash its
    /// times differ from the record.
    func beginWriting() async throws {
        closedRecord = transfer.resumeData.part
        guard transfer.resumeData.part?.rest != nil else { return }
        var resumeData = transfer.resumeData
        resumeData.part?.rest = nil
        try await commit(resumeData)
    }

    /// Opens the partial file and truncates it to the committed bytes. If it is not the file that was left, the caller
    /// discards the kept bytes before it uses the file, so that bytes of a new version never have old validators.
    ///
    /// - Parameter isNew: true if no file of this name is expected.
    func open(in directory: DirectoryHandle, isNew: Bool) async throws -> (part: PartialFile, problem: String?) {
        mark = nil
        let name = transfer.partialName
        let (segments, record) = (transfer.resumeData.segments, closedRecord)
        let leftover = transfer.replacementName
        let (part, remains) = try await services.paths.run(in: directory) { isAbandoned in
            // A crash leaves it.
            if !isNew { try directory.remove(leftover) }
            return try PartialFile.restore(
                in: directory, named: name, segments: segments, record: record, isNew: isNew,
                isCancelled: isAbandoned)
        }
        switch remains {
        case .intact:
            committed = transfer.resumeData.committedByteCount
            return (part, nil)
        case .void(let problem):
            return (part, problem)
        }
    }

    /// Records the file's state for the next run: the file is not written until a run opens it again.
    ///
    /// - Parameter isWhole: true if every byte of the body is committed. Then each task that has the bytes shows them
    ///   all, also a task that is no member any more.
    func leaveAtRest(_ part: PartialFile, isWhole: Bool = false) async throws {
        guard committed > 0 else { return }
        let record = try await services.pool(in: part.directory).run { () throws(FileError) in try part.restingRecord()
        }
        let isNew = record.rest != nil && record != transfer.resumeData.part
        guard isNew || isWhole else { return }
        var resumeData = transfer.resumeData
        if isNew { resumeData.part = record }
        try await commit(resumeData, isWhole: isWhole)
    }

    private func commit(_ resumeData: ResumeData, isWhole: Bool = false) async throws {
        let (id, length, now) = (transfer.id, committed, services.clock())
        try await services.store.write(.gathered) { tx in
            try tx.transfers.update(resumeData: resumeData, of: id)
            if isWhole { try tx.recordWhole(length, of: id, at: now) }
        }
        transfer.resumeData = resumeData
    }

    // MARK: Checkpoints

    /// Syncs the file. Throws if it was removed or replaced under its name: its bytes are not worth a commit.
    func makeDurable(_ part: PartialFile) async throws {
        let known = mark
        mark = try await services.pool(in: part.directory).run { () throws(FileError) in
            try part.requireInPlace()
            try part.sync()
            if let known { return known }
            return try part.mark()
        }
    }

    /// Commits the offsets of durable segments and the description of the bytes, with the changes of the members.
    ///
    /// - Parameters:
    ///   - use: the sources that sent the bytes.
    ///   - evidence: the servers to record; nil if the row has them.
    func commit(
        _ written: [Segment], describedBy described: ResumeData, from use: SourceUse, evidence: [SourceEvidence]?,
        changes: [TaskID: MemberChanges]
    ) async throws {
        let offset = written.byteCount
        var resumeData = described
        resumeData.part = mark.map { PartRecord(mark: $0) } ?? transfer.resumeData.part
        // No segments at all would mean that the kept bytes are dropped.
        resumeData.segments = written.isEmpty ? [Segment(start: 0, committed: 0)] : written
        // A further source is committed before its bytes are in the file.
        let isUseNew = use != transfer.sourceUse && offset > 0
        let isDescriptionNew = transfer.resumeData.withoutSegments != resumeData.withoutSegments
        let now = services.clock()
        let id = transfer.id
        try await services.store.write(.gathered) { [resumeData] tx in
            if isDescriptionNew {
                try tx.transfers.update(resumeData: resumeData, of: id)
            } else {
                try tx.transfers.checkpoint(id, segments: resumeData.segments)
            }
            if let evidence { try tx.transfers.setSources(evidence, of: id) }
            if isUseNew { try tx.transfers.setSourceUse(use, of: id) }
            try tx.append(changes, in: id, at: now) {
                $0.onCheckpoint(received: offset, total: resumeData.totalLength, at: now)
            }
        }
        transfer.resumeData = resumeData
        if isUseNew { transfer.sourceUse = use }
        if let evidence { trust.setRecorded(evidence) }
        committed = offset
        advanceSpace()
        context.control.setReceived(offset, total: resumeData.totalLength)
    }

    /// Commits which sources sent the bytes in the partial file, before it contains any of a further source.
    func commit(_ use: SourceUse) async throws {
        let id = transfer.id
        guard use != transfer.sourceUse else { return }
        try await services.store.write { try $0.transfers.setSourceUse(use, of: id) }
        transfer.sourceUse = use
    }

    /// Commits that no bytes are kept from the offset on after which only a digest would prove them.
    func removeUnprovenMark() async throws {
        var use = transfer.sourceUse
        use.unprovenFrom = nil
        try await commit(use)
        bindingDigest = nil
    }

    // MARK: Doubts

    /// Commits that an answer did not look like the file, so that its repetitions are counted over attempts and
    /// restarts.
    func record(_ doubt: AnswerDoubt) async throws {
        guard committed > 0, transfer.resumeData.doubt != doubt else { return }
        var resumeData = transfer.resumeData
        resumeData.doubt = doubt
        try await commit(resumeData)
        described.doubt = doubt
    }

    // MARK: Dropping

    /// Commits that the kept bytes are of another version or unusable. Only then may they be overwritten. Each task
    /// that has them gets an event with the reason.
    func drop(because discard: Discard, changes: [TaskID: MemberChanges]) async throws {
        let id = transfer.id
        if committed > 0 || transfer.resumeData.committedByteCount > 0 {
            services.logger.notice(
                "received bytes were discarded",
                metadata: [
                    "task": "\(context.taskID)", "transfer": "\(id)", "reason": "\(discard.reason)",
                    "bytes": "\(max(committed, transfer.resumeData.committedByteCount))",
                ])
        }
        let hasSources = trust.hasRecordedSources
        let use = transfer.sourceUse.withoutBytes
        let isUseNew = use != transfer.sourceUse
        let now = services.clock()
        try await services.store.write { tx in
            try tx.transfers.update(resumeData: ResumeData(), of: id)
            if hasSources { try tx.transfers.setSources([], of: id) }
            if isUseNew { try tx.transfers.setSourceUse(use, of: id) }
            try tx.append(changes, in: id, at: now) { _ in }
            // This includes tasks that have no run and only hold the bytes.
            for task in try tx.tasks.list(subscribingTo: id) {
                var machine = TaskStateMachine(task)
                let transition =
                    discard.isSourceChange && !task.state.isTerminal
                    ? machine.onSourceChanged(reason: discard.reason)
                    : machine.onBytesDiscarded(reason: discard.reason)
                try tx.tasks.update(machine.task)
                // The bytes of a cancelled task are deleted in any case.
                guard let event = transition.event, task.state != .cancelled else { continue }
                try tx.events.append(event, taskID: task.id, owner: task.owner, at: now)
            }
        }
        transfer.resumeData = ResumeData()
        mark = nil
        transfer.sourceUse = use
        bindingDigest = nil
        trust.forgetKept()
        committed = 0
        space.onTruncated()
        context.control.setReceived(0, total: nil)
    }

    // MARK: Space

    /// Fails with `insufficient_space` if the rest is known not to fit, with `file_too_large` if no such file is
    /// possible.
    func makeRoom(for part: PartialFile, in directory: DirectoryHandle) async throws {
        guard let total = described.totalLength else { return }
        try part.requirePossible(length: total)
        try await space.make(for: part, total: total, committed: committed, in: directory)
    }

    /// Reduces the claim by the bytes that are committed.
    private func advanceSpace() {
        guard let total = described.totalLength else { return }
        space.advance(remaining: total.subtractingSaturated(committed))
    }

    // MARK: What is kept for an attempt

    /// The resume data for a source. Under a digest it has no validators, because they are another server's. For a
    /// request of the whole instead of the rest it contains only the rules for answers that may replace them, and the
    /// attempt gets the number of kept bytes.
    ///
    /// - Parameter isFirst: true if no response has been accepted in this round.
    func resumeData(for choice: MirrorSelector.Choice, isFirst: Bool) -> ResumeData {
        switch choice.mode {
        case .fromStart:
            // What the kept bytes are is known all the same: not everything may replace them.
            var kept = ResumeData()
            kept.mediaType = transfer.resumeData.mediaType
            kept.totalLength = transfer.resumeData.totalLength
            kept.doubt = transfer.resumeData.doubt
            return kept
        case .own, .sameTag:
            return isFirst ? transfer.resumeData : described
        case .underDigest:
            var kept = isFirst ? transfer.resumeData : described
            kept.validators = Validators()
            return kept
        }
    }

    /// The reverse of `resumeData(for:isFirst:)`: bytes that are continued under a digest keep their validators.
    func description(of received: ResumeData, by choice: MirrorSelector.Choice) -> ResumeData {
        guard choice.mode == .underDigest else { return received }
        var described = received
        described.validators = transfer.resumeData.validators
        return described
    }
}

extension StoreTransaction {
    /// Records that all bytes of a transfer are here, for its unfinished tasks.
    fileprivate func recordWhole(_ length: Int64, of transfer: TransferID, at now: Timestamp) throws {
        for task in try self.tasks.list(subscribingTo: transfer)
        where !task.state.isTerminal && (task.received != length || task.total != length) {
            var machine = TaskStateMachine(task)
            machine.onCheckpoint(received: length, total: length, at: now)
            try self.tasks.update(machine.task)
        }
    }

    /// Commits the events and facts of members whose task still belongs to the transfer and has not ended.
    fileprivate func append(
        _ changes: [TaskID: MemberChanges], in transfer: TransferID, at now: Timestamp,
        _ change: (inout TaskStateMachine) -> Void
    ) throws {
        for (id, changes) in changes.sorted(by: { $0.key < $1.key }) {
            guard let task = try tasks.find(id), task.transferID == transfer, !task.state.isTerminal else { continue }
            for event in changes.events { try self.events.append(event, taskID: id, owner: task.owner, at: now) }
            var machine = TaskStateMachine(task)
            machine.setOutcome { $0 = changes.outcome }
            change(&machine)
            try tasks.update(machine.task)
        }
    }
}

extension [Segment] {
    /// The number of bytes that are in the segments.
    var byteCount: Int64 { reduce(0) { $0 + $1.committed - $1.start } }
}

extension ResumeData {
    /// True if the kept bytes are the beginning of the body without a gap, or none.
    var hasOnlyPrefix: Bool { segments.allSatisfy { $0.start == 0 || $0.committed == $0.start } }

    fileprivate var withoutSegments: ResumeData {
        var copy = self
        copy.segments = []
        return copy
    }
}
