public import XferModel

extension Publisher {
    /// How far a publish came whose intent was committed and whose outcome was not.
    public enum Recovery: Hashable, Sendable {
        /// The part is there: publish again, from choosing a name.
        case `repeat`
        /// The file has its final name, durably.
        case done
        /// Neither is there, or what is there cannot be shown to be it: the intent has come to nothing.
        case lost
    }

    /// Looks at what a crash left and finishes what was begun. Blocks, for as long as reading the file takes where only its
    /// digest can tell.
    ///
    /// - Throws: `system`; the answer is then unknown, ask again later.
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

    /// Whether the final name is that of the very file the intent was committed for, with the content it had then.
    ///
    /// An inode number is given again at once. The time of birth, the generation, the length and the modification time
    /// together prove that it is the file; where the file system has neither of the first two, or the time is another one,
    /// only the digest does, where one is known.
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
