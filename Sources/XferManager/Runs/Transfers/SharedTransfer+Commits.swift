import XferCore
import XferFiles
import XferModel
import XferStore

/// What a transfer commits, for itself and all its members in one transaction.
extension SharedTransfer {
    /// Events and facts that a member has not committed yet.
    struct MemberNews: Sendable {
        var events: [EventPayload]
        var outcome: TaskOutcome
    }

    /// Makes the written bytes durable, then commits the offset of each segment and what describes the bytes.
    ///
    /// - Parameter isLast: whether no attempt is live. Then the servers that sent the bytes are always committed, for
    ///   the next run.
    func checkpoint(
        _ part: PartialFile, at written: [Segment], keeping described: ResumeData, isLast: Bool = false
    ) async throws {
        let offset = written.reduce(0) { $0 + $1.committed - $1.start }
        let sources = offset > 0 ? trust.unrecordedSources(isLast: isLast) : nil
        let news = await takeNews()
        guard offset != committed || sources != nil || news.values.contains(where: { !$0.events.isEmpty }) else {
            return
        }
        if offset > committed { try await makeDurable(part) }
        var resumeData = described
        resumeData.part = mark.map { PartRecord(mark: $0) } ?? transfer.resumeData.part
        // No segments at all would mean that the kept bytes are dropped.
        resumeData.segments = written.isEmpty ? [Segment(start: 0, committed: 0)] : written
        // A further source is committed before its bytes are in the file.
        let use = book.use
        let isUseNew = use != transfer.sourceUse && offset > 0
        let isDescriptionNew = transfer.resumeData.withoutSegments != resumeData.withoutSegments
        let now = services.clock()
        let id = transfer.id
        try await services.store.write(.gathered) { [resumeData] tx in
            if isDescriptionNew {
                try tx.update(resumeData: resumeData, of: id)
            } else {
                try tx.checkpoint(id, segments: resumeData.segments)
            }
            if let sources { try tx.setSources(sources, of: id) }
            if isUseNew { try tx.setSourceUse(use, of: id) }
            for (member, news) in news.sorted(by: { $0.key < $1.key }) {
                try tx.note(news, of: member, in: id, at: now) {
                    $0.onCheckpoint(received: offset, total: resumeData.totalLength, at: now)
                }
            }
        }
        transfer.resumeData = resumeData
        if isUseNew { transfer.sourceUse = use }
        if let sources { trust.noteRecorded(sources) }
        committed = offset
        noteRoom()
        control.note(received: offset, total: resumeData.totalLength)
    }

    /// Syncs the file. Throws if it was removed or replaced under its name: its bytes are not worth a commit.
    private func makeDurable(_ part: PartialFile) async throws {
        let known = mark
        mark = try await services.pool.run { () throws(FileError) in
            try part.requireInPlace()
            try part.sync()
            if let known { return known }
            return try part.mark()
        }
    }

    /// Commits that the kept bytes are of another version or unusable. Only then may they be overwritten.
    ///
    /// - Parameter reason: how the change of version was detected; nil if the source has not changed.
    func dropKeptBytes(sourceChange reason: String?) async throws {
        let id = transfer.id
        let hasSources = trust.hasRecordedSources
        let use = transfer.sourceUse.withoutBytes
        let isUseNew = use != transfer.sourceUse
        let now = services.clock()
        let news = await takeNews()
        try await services.store.write { tx in
            try tx.update(resumeData: ResumeData(), of: id)
            if hasSources { try tx.setSources([], of: id) }
            if isUseNew { try tx.setSourceUse(use, of: id) }
            for (member, news) in news.sorted(by: { $0.key < $1.key }) {
                try tx.note(news, of: member, in: id, at: now) { _ in }
            }
            // This includes tasks that have no run and only hold the bytes.
            for task in try tx.tasks(subscribingTo: id) {
                var machine = TaskStateMachine(task)
                if let reason, !task.state.isTerminal {
                    let transition = machine.onSourceChanged(reason: reason)
                    if let event = transition.event {
                        try tx.append(event, taskID: task.id, owner: task.owner, at: now)
                    }
                } else {
                    machine.onBytesLost()
                }
                try tx.update(machine.task)
            }
        }
        transfer.resumeData = ResumeData()
        mark = nil
        transfer.sourceUse = use
        book.onBytesLost()
        holdingDigest = nil
        trust.forgetKept()
        committed = 0
        // Truncating the file releases the preallocated blocks.
        reserve = .none
        control.note(received: 0, total: nil)
    }

    /// Commits that the body is whole, for the tasks that hold its bytes.
    func seal(_ body: WholeBody) async throws {
        var described = body.described
        described.totalLength = body.length
        try await checkpoint(
            body.part, at: [Segment(start: 0, committed: body.length)], keeping: described, isLast: true)
        try await leaveAtRest(body.part)
    }

    private func takeNews() async -> [TaskID: MemberNews] {
        await passOnEvents()
        var news: [TaskID: MemberNews] = [:]
        for (id, member) in [members, leaving].joined() { news[id] = await member.run.takeNews() }
        return news
    }
}

extension StoreTransaction {
    /// Commits a member's events and facts, if the task still belongs to the transfer and has not ended.
    fileprivate func note(
        _ news: SharedTransfer.MemberNews, of id: TaskID, in transfer: TransferID, at now: Timestamp,
        _ change: (inout TaskStateMachine) -> Void
    ) throws {
        guard let task = try task(id), task.transferID == transfer, !task.state.isTerminal else { return }
        for event in news.events { try append(event, taskID: id, owner: task.owner, at: now) }
        var machine = TaskStateMachine(task)
        machine.note { $0 = news.outcome }
        change(&machine)
        try update(machine.task)
    }
}

extension ResumeData {
    /// Whether the kept bytes are the beginning of the body without a gap, or none.
    var hasOnlyPrefix: Bool { segments.allSatisfy { $0.start == 0 || $0.committed == $0.start } }

    /// Cuts the segments to a file of that length.
    mutating func cutSegments(at length: Int64) {
        for index in segments.indices {
            segments[index].committed = max(segments[index].start, min(segments[index].committed, length))
        }
    }

    fileprivate var withoutSegments: ResumeData {
        var copy = self
        copy.segments = []
        return copy
    }
}
