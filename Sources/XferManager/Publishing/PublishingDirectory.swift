import XferCore
import XferFiles
import XferModel

/// The operations by which a `PublishingRound` publishes files of one directory. Every call blocks.
///
/// `PublishingDirectory` performs them; tests put faults and kills before and after each.
protocol PublishingOperations: Sendable {
    /// Prepares the file; see `Publisher.prepare`.
    func prepare(_ parts: [(part: PartialFile, attributes: Publisher.Attributes)]) -> [FileError?]
    /// The facts about the file; see `PublishingFile.facts`.
    func facts(of file: PublishingFile) throws(FileError) -> FileFacts
    /// Chooses the final name; see `Publisher.chooseName`.
    func chooseName(
        for file: PublishingFile, isReserved: (String) -> Bool
    ) throws(FileError) -> Publisher.NameChoice
    /// Gives the file its name, as the committed intent says.
    func rename(
        _ file: PublishingFile, as intent: PublishIntent, isReplacing: Bool
    ) throws(FileError) -> Publisher.RenameOutcome
    /// Makes new and removed names durable; see `DirectoryHandle.sync(named:)`.
    func sync(_ unnamed: [UnnamedFile]) throws(FileError)
    /// Throws unless the final name leads to the file, and gives the file to the user of the directory.
    func confirm(_ file: PublishingFile, under intent: PublishIntent) throws(FileError)
    /// Removes the name again; see `PublishingFile.withdraw`.
    func withdraw(_ file: PublishingFile, _ intent: PublishIntent) throws(FileError)
}

/// A directory in which files are published.
struct PublishingDirectory: PublishingOperations {
    private let directory: DirectoryHandle
    private let publisher: Publisher

    init(_ directory: DirectoryHandle) {
        self.directory = directory
        publisher = Publisher(directory: directory)
    }

    func prepare(_ parts: [(part: PartialFile, attributes: Publisher.Attributes)]) -> [FileError?] {
        publisher.prepare(parts)
    }

    func facts(of file: PublishingFile) throws(FileError) -> FileFacts { try file.facts() }

    func chooseName(
        for file: PublishingFile, isReserved: (String) -> Bool
    ) throws(FileError) -> Publisher.NameChoice {
        try publisher.chooseName(for: file.name, policy: file.policy, isReserved: isReserved)
    }

    func rename(
        _ file: PublishingFile, as intent: PublishIntent, isReplacing: Bool
    ) throws(FileError) -> Publisher.RenameOutcome {
        try file.rename(as: intent, isReplacing: isReplacing, by: publisher)
    }

    func sync(_ unnamed: [UnnamedFile]) throws(FileError) { try directory.sync(named: unnamed) }

    /// An unnamed file was given to its user before it got its name, under which nothing but its path is checked.
    func confirm(_ file: PublishingFile, under intent: PublishIntent) throws(FileError) {
        guard let part = file.part else { return }
        try publisher.requirePublished(intent)
        part.handOver()
    }

    func withdraw(_ file: PublishingFile, _ intent: PublishIntent) throws(FileError) {
        try file.withdraw(intent, by: publisher)
    }
}

extension Publisher {
    /// Determines if a file whose intent was committed has its final name, and completes or undoes the steps in the
    /// directory. Blocks.
    ///
    /// - Parameter partName: nil if the file had no name before its final one.
    /// - Throws: then the result is unknown, and the intent has to stay.
    func recover(_ intent: PublishIntent, partName: String?) throws(FileError) -> PublishRecovery {
        let traces = try traces(of: intent, partName: partName)
        let way = PublishRecovery(isNamed: traces.isNamed, hasPart: traces.hasPart, hadPart: partName != nil)
        if way == .done {
            try finish(intent, partName: traces.hasPart ? partName : nil)
        } else {
            try undo(intent, partName: partName)
        }
        return way
    }
}
