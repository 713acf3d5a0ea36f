import XferFiles
import XferModel

/// A whole, verified file that is to get its final name.
struct PublishingFile: Sendable {
    enum Content: Sendable {
        /// A partial file of the directory.
        case part(PartialFile)
        /// A file that has no name yet, and is durable.
        case unnamed(UnnamedFile)
    }

    let content: Content
    /// The requested name. `policy` may lead to another one.
    let name: String
    let policy: ConflictPolicy
    /// The digest of its content, if it was verified.
    let digest: Checksum?
    let place: PublishingPlace
    /// The mode and times to set before the part is made durable; nil if it is durable already, mode and times
    /// included.
    var attributes: Publisher.Attributes?
    /// Called before anything is committed. Returns false to end the publishing of a file whose run was requested to
    /// stop.
    var begins: @Sendable () -> Bool = { true }
    /// True while the task's lease is in force: without it another daemon may have the task.
    var isLeaseInForce: @Sendable () -> Bool = { true }

    /// The partial file, if it is one.
    var part: PartialFile? { if case .part(let part) = content { part } else { nil } }
    /// The unnamed file, if it is one.
    var unnamed: UnnamedFile? { if case .unnamed(let file) = content { file } else { nil } }
}

extension PublishingFile {
    /// The present facts of the file. Throws unless a part is under its name, so that nothing is committed about
    /// another file. Blocks.
    func facts() throws(FileError) -> FileFacts {
        guard isLeaseInForce() else { throw .cancelled }
        switch content {
        case .part(let part):
            try part.requireInPlace()
            return try part.facts()
        case .unnamed(let file): return try file.facts()
        }
    }

    /// Gives the file the name in the committed intent. Blocks.
    func rename(
        as intent: PublishIntent, isReplacing: Bool, by publisher: Publisher
    ) throws(FileError) -> Publisher.RenameOutcome {
        // The commit of the intent may have taken long.
        guard isLeaseInForce() else { throw .cancelled }
        switch content {
        case .part(let part): return try publisher.rename(part.name, as: intent, isReplacing: isReplacing)
        case .unnamed(let file): return try file.link(as: intent.finalName)
        }
    }

    /// True if a failed `rename` may have given the name: an unnamed file lies on a disk of this machine.
    func mayHaveName(after error: FileError) -> Bool {
        guard case .part = content, case .system = error else { return false }
        return true
    }

    /// Takes the name away: a part gets its own name back, so that its bytes are kept. Does not sync the directory.
    /// Blocks.
    func withdraw(_ intent: PublishIntent, by publisher: Publisher) throws(FileError) {
        switch content {
        case .part(let part): try publisher.withdraw(intent, to: part.name)
        case .unnamed: try publisher.removeName(intent)
        }
    }
}
