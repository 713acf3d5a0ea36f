import XferCore
import XferCurl
import XferFiles
import XferModel

/// Another version of the source, received into a file of its own while the kept bytes stay; see `ReplacementRules`.
///
/// It is not in the database: until it replaces the kept bytes, a crash or a stop loses it.
struct Replacement {
    /// The facts of the new version's response head.
    struct Version {
        /// The resume data of the new version's bytes.
        let keeping: ResumeData
        let total: Int64?
        let choice: MirrorSelector.Choice
        /// The reason why the kept bytes are discarded once they are replaced.
        let discard: Discard
        let sight: AnswerDoubt
    }

    let part: PartialFile
    let version: Version
}

extension SharedTransfer {
    /// Prepares an attempt to write another version into a file of its own. Returns false, without a change, if the new
    /// version replaces them at once: there are few kept bytes, the version was received before, there is no space for
    /// both, or several attempts write.
    func beginReplacement(
        _ version: Replacement.Version, of handle: AttemptHandle, in directory: DirectoryHandle
    ) async throws -> Bool {
        let known = transfer.resumeData.doubt
        guard segmented == nil, transfer.resumeData.hasOnlyPrefix,
            ReplacementRules.isBeside(kept: kept.committed, doubt: known, sight: version.sight)
        else { return false }
        do {
            let needed = version.total ?? 0
            try await services.claim(
                needed, by: transfer.id, in: directory, for: "another version of the file")
        } catch let error as TransferError where error.reason == .insufficientSpace {
            return false
        }
        let name = transfer.replacementName
        let part = try await services.pool(in: directory).run { () throws(FileError) in
            try directory.remove(name)
            return try PartialFile.create(in: directory, named: name)
        }
        replacement = Replacement(part: part, version: version)
        // Nothing of this response is in the partial file.
        response.isAccepted = false
        await services.engine.redirect(handle.id, to: part.descriptor)
        return true
    }

    /// Replaces the kept bytes by the new version if it has as many bytes.
    func continueReplacement(_ new: Replacement, at offset: Int64, as part: PartialFile) async throws {
        guard ReplacementRules.replaces(offset, kept: kept.committed, isWhole: false) else { return }
        try await adopt(new, at: offset, as: part)
    }

    /// Decides between both versions when the attempt of the new one has ended.
    func settleReplacement(after outcome: AttemptOutcome, as part: PartialFile) async throws {
        guard let replacement else { return }
        let isWhole = outcome.result == .complete
        if ReplacementRules.replaces(outcome.offset, kept: kept.committed, isWhole: isWhole) {
            return try await adopt(replacement, at: outcome.offset, as: part)
        }
        await abandonReplacement()
        try await kept.record(replacement.version.sight)
    }

    /// Deletes the new version, if there is one. The kept bytes do not change.
    func abandonReplacement() async {
        guard let new = replacement else { return }
        replacement = nil
        new.part.close()
        _ = try? await services.pool(in: new.part.directory).run { () throws(FileError) in
            try new.part.directory.remove(new.part.name)
        }
        control.setReceived(kept.committed, total: transfer.resumeData.totalLength)
    }

    /// Replaces the kept bytes. They are discarded by a commit before their file loses its name, so that no reader
    /// takes the new bytes for the old ones. A crash between the two commits costs both versions.
    private func adopt(_ new: Replacement, at offset: Int64, as part: PartialFile) async throws {
        let version = new.version
        try await services.pool(in: part.directory).run { () throws(FileError) in try new.part.sync() }
        try await dropKeptBytes(because: version.discard)
        try await services.pool(in: part.directory).run { () throws(FileError) in try part.replace(with: new.part) }
        replacement = nil
        sources.selector.begin(with: version.choice.source)
        response.refusal = nil
        response.isAccepted = true
        describe(kept.description(of: version.keeping, by: version.choice))
        try await commitSourceUse()
        try await checkpoint(part, at: [Segment(start: 0, committed: offset)], keeping: kept.described)
        try await kept.makeRoom(for: part, in: part.directory)
    }
}
