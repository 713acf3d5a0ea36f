import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// Gives whole files their final names, many at a time. Files that arrive for a directory during a round form the next
/// round, and a round uses the pool, the commit and the directory's sync once for all its files.
///
/// For each file the order is: its bytes and attributes are durable, the intent is committed, the name is given, the
/// name is durable. The run's end commits the task's completion. Rounds of one directory follow each other, so that no
/// file gets a name that another is about to take; different directories run in parallel.
actor PublishingStage {
    /// The highest number of files in one round. It limits how long the next round waits.
    private static let largestRound = 256
    /// The highest number of names that a file may lose to others before it fails; by accident that does not happen so
    /// often.
    private static let maxNameRaces = 1000
    /// The number of parts of a round whose files are made durable at the same time. Each has at least `smallestPart`
    /// files.
    private static let maxParts = 4
    private static let smallestPart = 4

    private let store: TaskStore
    /// The files that wait for the next round, by directory. A directory is a key while a round is under way.
    private var waiting: [FileIdentity: [Entry]] = [:]

    private struct Entry {
        let candidate: PublishingCandidate
        let answer: CheckedContinuation<PublishingCandidate.Outcome, any Error>
        /// Names that other tasks or files have.
        var taken: Set<String> = []
        /// Attributes still to be set; nil once they are.
        var attributes: Publisher.Attributes?
    }

    init(store: TaskStore) { self.store = store }

    /// Returns when the file durably has its final name, or will not get one.
    ///
    /// - Throws: `FileError`, `TransferError`, `StoreError`, and the errors of the candidate's commit.
    func publish(_ candidate: PublishingCandidate) async throws -> PublishingCandidate.Outcome {
        let directory = candidate.file.directory
        return try await withCheckedThrowingContinuation { answer in
            let entry = Entry(candidate: candidate, answer: answer, attributes: candidate.attributes)
            guard waiting[directory.identity] == nil else {
                waiting[directory.identity, default: []].append(entry)
                return
            }
            waiting[directory.identity] = [entry]
            Task { await carryOutRounds(in: directory.identity) }
        }
    }

    private func carryOutRounds(in directory: FileIdentity) async {
        while let all = waiting[directory], !all.isEmpty {
            let round = Array(all.prefix(Self.largestRound))
            waiting[directory]?.removeFirst(round.count)
            let again = await carryOut(round)
            waiting[directory]?.insert(contentsOf: again, at: 0)
        }
        waiting[directory] = nil
    }

    // MARK: One round

    /// Returns the files whose names were taken meanwhile.
    private func carryOut(_ round: [Entry]) async -> [Entry] {
        let (chosen, rivals) = await choose(round)
        let (intended, refused) = await commit(chosen)
        var again = rivals + refused
        for (file, result) in zip(intended, await rename(intended)) {
            switch result {
            case .success(.published): file.entry.answer.resume(returning: .published(file.intent))
            case .success(.nameTaken): again += lost(file.intent.finalName, file.entry)
            case .failure(let error): file.entry.answer.resume(throwing: error)
            }
        }
        return again
    }

    private typealias Chosen = (entry: Entry, name: String, facts: FileFacts, isReplacing: Bool)
    private typealias Intended = (entry: Entry, intent: PublishIntent, isReplacing: Bool)

    /// Prepares the files and chooses a name for each. `rivals` are files that must wait for another file of this round
    /// to be published.
    private func choose(_ round: [Entry]) async -> (chosen: [Chosen], rivals: [Entry]) {
        let names = NIOLockedValueBox<Set<String>>([])
        let size = max(Self.smallestPart, (round.count + Self.maxParts - 1) / Self.maxParts)
        let parts = stride(from: 0, to: round.count, by: size).map { round[$0..<min($0 + size, round.count)] }
        guard let paths = round.first?.candidate.pathPool else { return ([], []) }
        let choices = await withTaskGroup(of: (Int, [NameChoice]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, await paths.run { Self.choose(part, besides: names) }) }
            }
            return await group.reduce(into: Array(repeating: [NameChoice](), count: parts.count)) { $0[$1.0] = $1.1 }
        }
        var chosen: [Chosen] = []
        var rivals: [Entry] = []
        for (entry, choice) in zip(round, choices.joined()) {
            switch choice {
            case .success((.publish(let name, let isReplacing), let facts)?):
                // The last check for a request to stop.
                if entry.candidate.control.beginPublishing() {
                    chosen.append((entry, name, facts, isReplacing))
                } else {
                    entry.answer.resume(returning: .stopped)
                }
            case .success((.skip, _)?): entry.answer.resume(returning: .skipped)
            case .success(nil):
                var rival = entry
                rival.attributes = nil
                rivals.append(rival)
            case .failure(let error): entry.answer.resume(throwing: error)
            }
        }
        return (chosen, rivals)
    }

    /// The name and the file's metadata. Nil if another file of the round is about to take the name, so that this file
    /// must wait for it.
    private typealias NameChoice = Result<(Publisher.NameChoice, FileFacts)?, FileError>

    /// - Parameter names: the names chosen in this round so far.
    private static func choose(
        _ part: ArraySlice<Entry>, besides names: NIOLockedValueBox<Set<String>>
    ) -> [NameChoice] {
        guard let directory = part.first?.candidate.file.directory else { return [] }
        let publisher = Publisher(directory: directory)
        var failures: [Int: FileError] = [:]
        let unprepared = part.indices.compactMap { index in
            part[index].attributes.map { (index: index, part: (part: part[index].candidate.file, attributes: $0)) }
        }
        for (file, failure) in zip(unprepared, publisher.prepare(unprepared.map(\.part))) {
            failures[file.index] = failure
        }
        return part.indices.map { index in
            failures[index].map(NameChoice.failure) ?? chooseName(for: part[index], publisher, besides: names)
        }
    }

    /// Checks that the file is under its name, and that the task's path leads to its directory. Otherwise nothing is
    /// committed.
    private static func requireInPlace(_ candidate: PublishingCandidate) throws(FileError) -> FileFacts {
        guard candidate.isLeaseInForce() else { throw .cancelled }
        try candidate.file.requireInPlace()
        try DirectoryPath.requireLeading(to: candidate.file.directory, for: candidate.name, candidate.reopen)
        return try candidate.file.facts()
    }

    private static func chooseName(
        for entry: Entry, _ publisher: Publisher, besides names: NIOLockedValueBox<Set<String>>
    ) -> NameChoice {
        let candidate = entry.candidate
        do throws(FileError) {
            let facts = try requireInPlace(candidate)
            while true {
                if candidate.policy.waitsForOthers, names.withLockedValue({ $0.contains(candidate.name) }) {
                    return .success(nil)
                }
                let choice = try publisher.chooseName(for: candidate.name, policy: candidate.policy) { name in
                    entry.taken.contains(name) || names.withLockedValue { $0.contains(name) }
                }
                guard case .publish(let name, _) = choice else { return .success((choice, facts)) }
                if names.withLockedValue({ $0.insert(name).inserted }) { return .success((choice, facts)) }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Commits the intents. `refused` are files whose names are held by other tasks.
    private func commit(_ chosen: [Chosen]) async -> (intended: [Intended], refused: [Entry]) {
        guard !chosen.isEmpty else { return ([], []) }
        let files = chosen.map { entry, name, facts, isReplacing in
            let intent = PublishIntent(finalName: name, part: facts, digest: entry.candidate.digest)
            return (entry: entry, intent: intent, isReplacing)
        }
        let results = await store.write(
            each: files.map { entry, intent, isReplacing in
                { [commit = entry.candidate.commit] tx in try commit(tx, intent, isReplacing) }
            })
        var intended: [Intended] = []
        var refused: [Entry] = []
        for (file, result) in zip(files, results) {
            switch result {
            case .success(true):
                file.entry.candidate.onIntent()
                intended.append(file)
            case .success(false): refused += lost(file.intent.finalName, file.entry)
            case .failure(let error): file.entry.answer.resume(throwing: error)
            }
        }
        return (intended, refused)
    }

    /// Gives the files their names and makes the names durable.
    private func rename(_ files: [Intended]) async -> [Result<Publisher.RenameOutcome, FileError>] {
        guard let first = files.first?.entry.candidate else { return [] }
        let directory = first.file.directory
        let moves = files.map { file in
            Move(candidate: file.entry.candidate, intent: file.intent, isReplacing: file.isReplacing)
        }
        return await first.pathPool.run {
            let publisher = Publisher(directory: directory)
            let renamed = moves.map { move in
                Result { () throws(FileError) in
                    // The commit of the intent may have taken long, and another daemon has the task now.
                    guard move.candidate.isLeaseInForce() else { throw .cancelled }
                    return try publisher.rename(
                        move.candidate.file.name, as: move.intent, isReplacing: move.isReplacing)
                }
            }
            do throws(FileError) {
                try directory.sync()
            } catch {
                return renamed.map { $0.flatMap { _ in .failure(error) } }
            }
            return zip(moves, renamed).map { move, result in
                guard case .success(.published) = result else { return result }
                return Result { () throws(FileError) in
                    try Self.requirePublished(move, by: publisher)
                    move.candidate.file.handOver()
                    return .published
                }
            }
        }
    }

    private struct Move: Sendable {
        let candidate: PublishingCandidate
        let intent: PublishIntent
        let isReplacing: Bool
    }

    /// Checks that a published file can be found under its path. If not, the file gets its partial name back, so that
    /// its bytes are kept as after any failure. A file that replaced another one stays.
    private static func requirePublished(_ move: Move, by publisher: Publisher) throws(FileError) {
        do throws(FileError) {
            try DirectoryPath.requireLeading(
                to: publisher.directory, for: move.intent.finalName, move.candidate.reopen)
            try publisher.requirePublished(move.intent)
        } catch {
            if !move.isReplacing { try publisher.withdraw(move.intent, to: move.candidate.file.name) }
            throw error
        }
    }

    /// Returns the file for another try without a name that is taken; fails it after too many tries.
    private func lost(_ name: String, _ entry: Entry) -> [Entry] {
        var entry = entry
        entry.attributes = nil
        entry.taken.insert(name)
        guard entry.taken.count < Self.maxNameRaces else {
            let path = entry.candidate.file.directory.path
            entry.answer.resume(
                throwing: TransferError(
                    .fileMoveFailed, "other files take every name in \(path) before this one can"))
            return []
        }
        return [entry]
    }
}

extension ConflictPolicy {
    /// Whether a file with the same name in this round has to be published first. That file then decides the conflict,
    /// or is replaced once it has the name.
    fileprivate var waitsForOthers: Bool { self != .rename }
}
