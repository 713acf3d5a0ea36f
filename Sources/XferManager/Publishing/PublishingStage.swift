import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// Gives whole files their final names, many at a time: what arrives for a directory while a round of it is under way forms
/// the next, and a round visits the pool, the log and the directory once for all its files.
///
/// For each file the order is the house's: its bytes and attributes are durable, the intent is committed, the name is given,
/// the name is durable. Its task's completion is for the run's end to commit. Rounds of a directory follow each other, so that
/// nobody chooses a name that another one is about to take; those of other directories go on meanwhile.
actor PublishingStage {
    /// Files in one round at most: bounds how long those wait who come next.
    private static let largestRound = 256
    /// Files that take the name away between choosing and renaming, more often than anybody would by accident.
    private static let maxNameRaces = 1000
    /// Parts of a round whose files are made durable at the same time, each of them this large at least.
    private static let maxParts = 4
    private static let smallestPart = 4

    private let store: TaskStore
    private let pool: BlockingPool
    /// By directory with a round under way: who waits for the next one.
    private var waiting: [FileIdentity: [Entry]] = [:]

    private struct Entry {
        let candidate: PublishingCandidate
        let answer: CheckedContinuation<PublishingCandidate.Outcome, any Error>
        /// Names that others took, or hold.
        var taken: Set<String> = []
        /// What the file has to get first; nil once it has.
        var attributes: Publisher.Attributes?
    }

    init(store: TaskStore, pool: BlockingPool) {
        self.store = store
        self.pool = pool
    }

    /// Returns when the file has its final name, durably, or is not going to have one.
    ///
    /// - Throws: `FileError`, `TransferError`, `StoreError`, what the candidate's commit throws.
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

    /// Answers those whose names were taken meanwhile.
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

    /// Makes the files ready and finds a name for each. Those who have to see first what becomes of another one in this round
    /// are answered apart.
    private func choose(_ round: [Entry]) async -> (chosen: [Chosen], rivals: [Entry]) {
        let names = NIOLockedValueBox<Set<String>>([])
        let size = max(Self.smallestPart, (round.count + Self.maxParts - 1) / Self.maxParts)
        let parts = stride(from: 0, to: round.count, by: size).map { round[$0..<min($0 + size, round.count)] }
        let choices = await withTaskGroup(of: (Int, [NameChoice]).self) { [pool] group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, await pool.run { Self.choose(part, besides: names) }) }
            }
            return await group.reduce(into: Array(repeating: [NameChoice](), count: parts.count)) { $0[$1.0] = $1.1 }
        }
        var chosen: [Chosen] = []
        var rivals: [Entry] = []
        for (entry, choice) in zip(round, choices.joined()) {
            switch choice {
            case .success((.publish(let name, let isReplacing), let facts)?):
                // The last moment at which a wish to stop counts.
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

    /// The name, and what the file is like. Nil where another one in the round is about to take the name, which settles the
    /// matter.
    private typealias NameChoice = Result<(Publisher.NameChoice, FileFacts)?, FileError>

    /// - Parameter names: those that the round has found so far.
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

    /// Nothing is committed about a file that is not in its place, or not in the place its task is about.
    private static func requireInPlace(_ candidate: PublishingCandidate) throws(FileError) -> FileFacts {
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

    /// Those whose names turned out to be held by other tasks are answered apart.
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

    /// Gives the names, and makes them durable.
    private func rename(_ files: [Intended]) async -> [Result<Publisher.RenameOutcome, FileError>] {
        guard let directory = files.first?.entry.candidate.file.directory else { return [] }
        let moves = files.map { file in
            Move(candidate: file.entry.candidate, intent: file.intent, isReplacing: file.isReplacing)
        }
        return await pool.run {
            let publisher = Publisher(directory: directory)
            let renamed = moves.map { move in
                Result { () throws(FileError) in
                    try publisher.rename(
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

    /// Whoever is told that a file is published finds it under its path. If not, the file gives its name back, so that its bytes are
    /// kept as those of any task that fails; where it replaced another file, it stays.
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

    /// A name turned out to be another one's.
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
    /// Whether another file of the round that is about to take the name has to be published first: it ends the matter, or is
    /// replaced once it was seen to be in its place.
    fileprivate var waitsForOthers: Bool { self != .rename }
}
