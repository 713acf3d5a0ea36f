import XferCore
import XferFiles
import XferModel
import XferStore

/// What a transfer writes down: one commit for itself and all its members.
extension SharedTransfer {
    /// What a member learned and has not committed yet.
    struct MemberNews: Sendable {
        var events: [EventPayload]
        var outcome: TaskOutcome
    }

    /// Makes what is written durable, then commits how far each segment is and what describes the bytes.
    ///
    /// - Parameter isLast: no attempt is live; whoever goes on has to know who sent the bytes.
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
        // None at all would say that what was there is given up.
        resumeData.segments = written.isEmpty ? [Segment(start: 0, committed: 0)] : written
        // Those of a further source are not among the bytes before it is known of them.
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

    /// What nobody can find under its name any more, because the file was removed or replaced, is not worth a commit.
    private func makeDurable(_ part: PartialFile) async throws {
        let known = mark
        mark = try await services.pool.run { () throws(FileError) in
            try part.requireInPlace()
            try part.sync()
            if let known { return known }
            return try part.mark()
        }
    }

    /// Commits that what was kept is of another version or unusable; only then may its bytes be overwritten.
    ///
    /// - Parameter reason: how it was seen that the source is another version now; nil when it is not.
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
            // Also those who only keep the bytes.
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
        // Cutting the file gives the blocks back.
        reserve = .none
        control.note(received: 0, total: nil)
    }

    /// Commits that the body is whole, for those whom it is kept for.
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
    /// Commits what a member learned, if it still is one. Of a task that has ended nothing more is told.
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
    /// Whether what is kept is the beginning without a gap, or nothing.
    var hasOnlyPrefix: Bool { segments.allSatisfy { $0.start == 0 || $0.committed == $0.start } }

    /// What is left of the segments in a file that ends there.
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
