public import XferModel

extension Publisher {
    /// How far a publish came whose intent was committed and whose outcome was not.
    public enum Recovery: Hashable, Sendable {
        /// The part is there: publish again, from choosing a name.
        case `repeat`
        /// The file has its final name, durably.
        case done
        /// Neither is there: `file_move_failed`.
        case lost
    }

    /// Looks at what a crash left and finishes what was begun.
    ///
    /// - Throws: `system`; the answer is then unknown, ask again later.
    public func recover(_ intent: PublishIntent, partName: String) throws(FileError) -> Recovery {
        let hasPart = isPart(try directory.identity(of: partName), of: intent)
        let hasFinal = isPart(try directory.identity(of: intent.finalName), of: intent)
        guard hasFinal else { return hasPart ? .repeat : .lost }
        // Both names: the crash came between link and unlink.
        if hasPart { try directory.remove(partName) }
        handOver(intent)
        try directory.sync()
        return .done
    }
}
