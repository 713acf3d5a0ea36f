import XferCore
import XferFiles
import XferModel
import XferStore

/// The points at which a transfer checks, commits and discards its kept bytes; `KeptBytes` performs the steps.
extension SharedTransfer {
    /// The largest file that is checked on the actor: two system calls cost less than a switch to the pool. Only on a
    /// disk of this machine: others may not answer.
    private static var largestSmall: Int64 { 1 << 20 }

    // MARK: Before the first byte

    /// Opens the partial file. If it is not the file that was left, the resume data is discarded in a commit first.
    func openPart(in directory: DirectoryHandle) async throws -> PartialFile {
        try await kept.beginWriting()
        let (part, problem) = try await kept.open(in: directory, isNew: started.isExclusive)
        if let problem {
            try await dropKeptBytes(
                because: .init(
                    "the partial file has changed since it was closed: \(problem)"))
        }
        describe(transfer.resumeData)
        control.setReceived(kept.committed, total: transfer.resumeData.totalLength)
        return part
    }

    /// Drops the bytes of earlier runs if the policies in force no longer trust the servers that sent them.
    func judgeKeptBytes(in part: PartialFile) async throws {
        guard kept.committed > 0 else { return }
        let urls = senders + (transfer.resumeData.finalURL.map { [$0] } ?? [])
        let trust = trust
        let refusal = try await services.pool.run { () throws(TransferError) in try trust.refusalOfKept(from: urls) }
        guard let refusal else { return }
        try await dropKeptBytes(
            because: .init("the trust policies in force refuse a server that sent them: \(refusal)"), truncating: part)
        describe(ResumeData())
    }

    /// Discards bytes that only a digest can verify, if no member demands one.
    func demandDigest(in part: PartialFile) async throws {
        guard let offset = transfer.sourceUse.unprovenFrom else { return }
        guard transfer.sourceUse.needsDigest(for: transfer.resumeData) else {
            return try await kept.removeUnprovenMark()
        }
        // Of bytes that were not put together, any digest shows whether they are whole.
        let isOnlyEnd = offset == transfer.resumeData.totalLength
        kept.bindingDigest = kept.bindingDigest ?? demandedDigest ?? (isOnlyEnd ? endDigest : nil)
        let isHeld = specification.mirrors.isEmpty ? kept.bindingDigest != nil : isDigestKnown
        guard !isHeld else { return }
        let reason =
            isOnlyEnd
            ? "nothing proves that the kept bytes are complete, and the task has no checksum now"
            : "the kept bytes were combined without a validator, and the task has no checksum now"
        try await dropKeptBytes(because: .init(reason), truncating: part)
        describe(ResumeData())
    }

    /// Sets the description of the bytes in the partial file, and whether they could be continued after an
    /// interruption.
    func describe(_ described: ResumeData) {
        kept.described = described
        control.setResumable(
            ResumeRules.isResumable(described, allowsUnsafe: specification.resumesUnsafely || mayJoinUnproven))
    }

    // MARK: Checkpoints

    /// Makes the written bytes durable, then commits the offset of each segment and the description of the bytes, for
    /// the transfer and all its members in one transaction.
    ///
    /// - Parameter isLast: true if no attempt is live. Then the servers that sent the bytes are always committed, for
    ///   the next run.
    func checkpoint(
        _ part: PartialFile, at written: [Segment], keeping described: ResumeData, isLast: Bool = false
    ) async throws {
        let offset = written.byteCount
        let evidence = offset > 0 ? trust.unrecordedSources(isLast: isLast) : nil
        let changes = await removeChanges()
        // An answer that went on has cleared a doubt, although no byte of it may have come.
        let isDoubtNew = offset > 0 && described.doubt != transfer.resumeData.doubt
        guard
            offset != kept.committed || evidence != nil || isDoubtNew
                || changes.values.contains(where: { !$0.events.isEmpty })
        else { return }
        if offset > kept.committed { try await kept.makeDurable(part) }
        // The sources are read after the sync: a further one may have been committed meanwhile, and an older value
        // would remove it.
        try await kept.commit(
            written, describedBy: described, from: sources.selector.use, evidence: evidence, changes: changes)
    }

    /// Commits that the body is complete, for the tasks that have its bytes.
    func seal(_ body: WholeBody) async throws {
        var described = body.described
        described.totalLength = body.length
        try await checkpoint(
            body.part, at: [Segment(start: 0, committed: body.length)], keeping: described, isLast: true)
        try await kept.leaveAtRest(body.part, isWhole: true)
    }

    /// Throws unless the file has every byte; see `PartialFile.requireWhole`.
    func requireWhole(_ part: PartialFile, _ length: Int64) async throws -> FileFacts? {
        if length <= Self.largestSmall, part.directory.traits.isLocal { return try part.requireWhole(length) }
        return try await services.pool(in: part.directory).run { () throws(FileError) in try part.requireWhole(length) }
    }

    // MARK: Dropping

    /// Commits that the kept bytes are of another version or unusable. Only then may they be overwritten.
    ///
    /// Each task that has them gets an event with the reason.
    func dropKeptBytes(because discard: Discard) async throws {
        try await kept.drop(because: discard, changes: await removeChanges())
        sources.selector.onBytesLost()
    }

    /// Drops the kept bytes and empties the file.
    func dropKeptBytes(because discard: Discard, truncating part: PartialFile) async throws {
        try await dropKeptBytes(because: discard)
        try await services.pool(in: part.directory).run { try part.truncate(to: 0) }
    }

    /// Discards the kept bytes for all tasks that have them, because another process truncated, removed or replaced the
    /// open file. Returns the error for the waiting members; the next attempt fetches everything again.
    func giveUpSpoiled(_ error: FileError) async -> any Error {
        do {
            try await dropKeptBytes(because: .init("\(error)"))
            return error.transferError
        } catch {
            return error
        }
    }

    /// Removes the members' pending changes, for a commit.
    private func removeChanges() async -> [TaskID: MemberChanges] {
        await passOnEvents()
        var changes: [TaskID: MemberChanges] = [:]
        for run in members.runs { changes[run.taskID] = await run.removeChanges() }
        return changes
    }
}
