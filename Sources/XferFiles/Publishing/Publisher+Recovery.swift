public import XferModel

extension Publisher {
    /// The state of a publish whose intent was committed and whose outcome was not.
    public enum Recovery: Hashable, Sendable {
        /// The part is there: publish again, from choosing a name.
        case `repeat`
        /// The file has its final name, durably.
        case done
        /// Neither file can be found and identified: the intent has failed.
        case lost
    }

    /// Checks what a crash left and completes what was begun. Blocks, where only the digest can identify the file for
    /// as long as reading takes.
    ///
    /// - Throws: `system`; the state is then unknown, call it again later.
    public func recover(_ intent: PublishIntent, partName: String) throws(FileError) -> Recovery {
        // The next publishing checks the part again, so an intent of an earlier version will do.
        let hasPart =
            try directory.facts(of: partName).map { part in
                intent.part.mark.isCertain
                    ? intent.part.mark.isSame(as: part.mark) : intent.part.identity.inode == part.identity.inode
            } ?? false
        guard try isPublished(intent) else { return hasPart ? .repeat : .lost }
        // Both names: the crash came between link and unlink.
        if hasPart { try directory.remove(partName) }
        handOver(intent)
        try directory.sync()
        return .done
    }

    /// Whether the final name leads to the very file of the intent, with unchanged content.
    ///
    /// An inode number may be reused at once. The time of birth, the generation, the length and the modification time
    /// together identify the file. If the file system has neither of the first two, or the modification time differs,
    /// only the digest does, where it is known.
    public func isPublished(_ intent: PublishIntent) throws(FileError) -> Bool {
        guard let found = try directory.facts(of: intent.finalName),
            intent.part.mark.isSame(as: found.mark), found.length == intent.part.length
        else { return false }
        if intent.part.mark.isCertain, found.modifiedAt == intent.part.modifiedAt { return true }
        guard let digest = intent.digest else { return false }
        do throws(FileError) {
            let file = try ReadableFile(in: directory, named: intent.finalName)
            return try file.digest(digest.algorithm, length: found.length) == digest
        } catch {
            switch error {
            case .missing, .lengthMismatch, .digestUnavailable: return false
            default: throw error
            }
        }
    }
}
