import XferCore
import XferFiles
import XferModel
import XferStore

/// Gives files of one directory their final names: performs the steps of a `PublishRound`, each for many files at a
/// time. The threads, the commit and the sync of the directory are used once for all of them.
///
/// It publishes all files: those of ordinary and brief runs, and staged ones.
struct PublishingRound: Sendable {
    /// An intent that is to be committed.
    struct Intended: Sendable {
        /// The number of the file.
        let file: Int
        let intent: PublishIntent
        let isReplacing: Bool
    }

    /// Commits intents together. For each, in order: false, with nothing written, if another task has the name.
    typealias Commit = @Sendable ([Intended]) async -> [Result<Bool, any Error>]

    /// The end of a file in the round.
    enum Outcome: Sendable {
        /// The file has the name in this intent.
        case published(PublishIntent)
        /// Another file has the name, and the policy is to keep that file.
        case skipped
        /// The run was requested to stop before anything was committed.
        case stopped
        /// The file has no name.
        case failed(any Error)
        /// The file may have its name: only its intent can show that, later.
        case uncertain(any Error)
    }

    private struct Entry: Sendable {
        var file: PublishingFile
        /// The facts for the name that was chosen last.
        var intent: PublishIntent?
        /// The reason why the last step failed.
        var failure: (any Error)?
    }

    /// The problems of the paths that were checked for the next step; nil for a path that leads to the directory.
    private typealias CheckedPaths = [PublishingPlace.Key: FileError?]

    /// The number of parts of a round whose files are made durable at the same time. Each has at least `smallestPart`
    /// files.
    private static let maxParts = 4
    private static let smallestPart = 4

    private let directory: DirectoryHandle
    private let operations: any PublishingOperations
    /// The threads for the directory.
    private let pool: BlockingPool
    private var entries: [Entry]
    private var plan: PublishRound

    /// - Parameters:
    ///   - files: of this directory.
    ///   - mostLostNames: the highest number of names that a file may lose to others.
    ///   - operations: for tests; nil performs them in the directory.
    init(
        _ files: [PublishingFile], in directory: DirectoryHandle, on pool: BlockingPool, mostLostNames: Int = 1000,
        by operations: (any PublishingOperations)? = nil
    ) {
        self.directory = directory
        self.operations = operations ?? PublishingDirectory(directory)
        self.pool = pool
        entries = files.map { Entry(file: $0) }
        plan = PublishRound(files.map { ($0.name, $0.policy) }, mostLostNames: mostLostNames)
    }

    /// Carries out the round.
    ///
    /// - Parameter onEnd: called once for each file, with its number, as soon as its course has ended.
    mutating func carryOut(committing commit: Commit, onEnd: (Int, Outcome) -> Void) async {
        var reported = 0
        while true {
            for number in plan.ended[reported...] { onEnd(number, outcome(of: number)) }
            reported = plan.ended.count
            guard let step = plan.next else { return }
            if case .commit(let numbers) = step {
                await commitIntents(of: numbers, commit)
                continue
            }
            let checked = await checkGuestPaths(for: step)
            if case .choose(let numbers) = step { await prepareInParts(numbers) }
            self = await pool.run { [self] in
                var round = self
                round.performOnDisk(checked)
                return round
            }
        }
    }

    /// True if an intent of the file was committed.
    func isIntended(_ number: Int) -> Bool { plan.isIntended(number) }

    private func outcome(of number: Int) -> Outcome {
        let failure = entries[number].failure ?? FileError.cancelled
        switch (plan.end(of: number), entries[number].intent) {
        case (.published, let intent?): return .published(intent)
        case (.skipped, _): return .skipped
        case (.stopped, _): return .stopped
        case (.uncertain, _): return .uncertain(failure)
        case (.outraced, _):
            let message = "no name is free in \(directory.path) beside those of other files"
            return .failed(TransferError(.fileMoveFailed, message))
        case (.failed, _), (.published, nil), (nil, _): return .failed(failure)
        }
    }
}

// MARK: - Intents

extension PublishingRound {
    private mutating func commitIntents(of numbers: [Int], _ commit: Commit) async {
        var intended: [Intended] = []
        for number in numbers {
            do throws(FileError) {
                let intent = try intent(of: number)
                intended.append(Intended(file: number, intent: intent, isReplacing: plan.isReplacing(number)))
            } catch {
                entries[number].failure = error
                plan.onCommit(.failed, of: number)
            }
        }
        guard !intended.isEmpty else { return }
        for (intended, result) in zip(intended, await commit(intended)) {
            switch result {
            case .success(let isCommitted): plan.onCommit(isCommitted ? .done : .taken, of: intended.file)
            case .failure(let error):
                entries[intended.file].failure = error
                plan.onCommit(.failed, of: intended.file)
            }
        }
    }

    /// The intent for the name that was chosen last: every step after that choice needs it. A file without one fails,
    /// so that the round ends in any case.
    private func intent(of number: Int) throws(FileError) -> PublishIntent {
        guard let intent = entries[number].intent else {
            InvariantChecks.require(false, "a name was chosen for \(entries[number].file.name), without an intent")
            throw .cancelled
        }
        return intent
    }
}

// MARK: - Paths

extension PublishingRound {
    /// The files whose paths have to lead to the directory in this step.
    ///
    /// A new name can be removed again, so an unnamed file, whose directory was just opened, is checked once it has its
    /// name. A part may replace another file.
    private func filesToFind(in step: PublishRound.Step) -> [Int] {
        switch step {
        case .choose(let numbers): numbers.filter { entries[$0].file.part != nil }
        case .check(let numbers): numbers
        case .commit, .name, .sync, .withdraw: []
        }
    }

    /// Opens the guests' paths of a step, each once. A path that does not answer counts as a failure.
    private func checkGuestPaths(for step: PublishRound.Step) async -> CheckedPaths {
        var checked: CheckedPaths = [:]
        for number in filesToFind(in: step) {
            let place = entries[number].file.place
            guard let guests = place.guestPool, checked[place.key] == nil else { continue }
            let found = try? await result(within: PathPools.patience) { [directory] in
                await guests.run { place.problem(with: directory) }
            }
            checked[place.key] = .some(found ?? place.unanswering)
        }
        return checked
    }

    /// Throws unless the file's path leads to the directory. Blocks for the paths of operators, which it adds to
    /// `checked`.
    private func requireFound(_ number: Int, _ checked: inout CheckedPaths) throws(FileError) {
        let (place, name) = (entries[number].file.place, entries[number].intent?.finalName)
        let problem: FileError? = checked[place.key] ?? place.problem(with: directory)
        checked[place.key] = .some(problem)
        guard let problem else { return }
        guard case .destinationChanged(_, let reason) = problem else { throw problem }
        throw .destinationChanged(path: directory.path(of: name ?? entries[number].file.name), problem: reason)
    }
}

// MARK: - Steps in the directory

extension PublishingRound {
    /// Sets the attributes of many files and makes them durable, some at a time. Usually little of that remains for the
    /// step that chooses their names.
    private mutating func prepareInParts(_ numbers: [Int]) async {
        let unprepared = numbers.filter { entries[$0].file.attributes != nil }
        guard unprepared.count > Self.smallestPart else { return }
        let size = max(Self.smallestPart, (unprepared.count + Self.maxParts - 1) / Self.maxParts)
        let parts = stride(from: 0, to: unprepared.count, by: size).map {
            Array(unprepared[$0..<min($0 + size, unprepared.count)])
        }
        let failures = await withTaskGroup(of: [Int: FileError].self) { [self] group in
            for part in parts { group.addTask { await pool.run { prepare(part) } } }
            return await group.reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
        }
        apply(failures, to: unprepared)
    }

    /// Returns the errors of the files that could not be prepared. Blocks.
    private func prepare(_ numbers: [Int]) -> [Int: FileError] {
        let parts = numbers.compactMap { number in
            if let part = entries[number].file.part, let attributes = entries[number].file.attributes {
                (number: number, file: (part: part, attributes: attributes))
            } else {
                nil
            }
        }
        var failures: [Int: FileError] = [:]
        for (part, failure) in zip(parts, operations.prepare(parts.map(\.file))) {
            failures[part.number] = failure
        }
        return failures
    }

    private mutating func apply(_ failures: [Int: FileError], to prepared: [Int]) {
        for number in prepared {
            entries[number].file.attributes = nil
            guard let failure = failures[number] else { continue }
            entries[number].failure = failure
            plan.onChoice(.failed, of: number)
        }
    }

    /// Performs the next steps, up to one that needs the database or a guest's path. Blocks.
    mutating func performOnDisk() { performOnDisk([:]) }

    /// Performs the present step on the disk.
    ///
    /// - Parameter checked: guests' paths that were checked for the first of these steps.
    private mutating func performOnDisk(_ checked: CheckedPaths) {
        var checked = checked
        while let step = plan.next {
            let isAnyUnchecked = filesToFind(in: step).contains { number in
                let place = entries[number].file.place
                return place.guestPool != nil && checked[place.key] == nil
            }
            guard !isAnyUnchecked else { return }
            switch step {
            case .choose(let numbers): chooseNames(of: numbers, &checked)
            case .commit: return
            case .name(let numbers): giveNames(to: numbers)
            case .sync(let numbers): sync(numbers)
            case .check(let numbers): check(numbers, &checked)
            case .withdraw(let numbers): withdraw(numbers)
            }
            checked = [:]
        }
    }

    private mutating func chooseNames(of numbers: [Int], _ checked: inout CheckedPaths) {
        let unprepared = numbers.filter { entries[$0].file.attributes != nil }
        if !unprepared.isEmpty { apply(prepare(unprepared), to: unprepared) }
        for number in numbers where plan.end(of: number) == nil {
            do throws(FileError) {
                plan.onChoice(try chooseName(of: number, &checked), of: number)
            } catch {
                entries[number].failure = error
                plan.onChoice(.failed, of: number)
            }
        }
    }

    private mutating func chooseName(
        of number: Int, _ checked: inout CheckedPaths
    ) throws(FileError) -> PublishRound.Choice {
        let file = entries[number].file
        entries[number].intent = nil
        let facts = try operations.facts(of: file)
        if file.part != nil { try requireFound(number, &checked) }
        guard !plan.mustWait(number) else { return .wait }
        let choice = try operations.chooseName(for: file) { plan.isReserved($0, for: number) }
        guard case .publish(let name, let isReplacing) = choice else { return .skip }
        guard file.begins() else { return .stop }
        entries[number].intent = PublishIntent(finalName: name, part: facts, digest: file.digest)
        return .name(name, isReplacing: isReplacing)
    }

    private mutating func giveNames(to numbers: [Int]) {
        for number in numbers {
            do throws(FileError) {
                let outcome = try operations.rename(
                    entries[number].file, as: try intent(of: number), isReplacing: plan.isReplacing(number))
                plan.onNaming(outcome == .published ? .done : .taken, of: number)
            } catch {
                entries[number].failure = error
                plan.onNaming(entries[number].file.mayHaveName(after: error) ? .unknown : .failed, of: number)
            }
        }
    }

    private mutating func sync(_ numbers: [Int]) {
        do throws(FileError) {
            try operations.sync(numbers.compactMap { entries[$0].file.unnamed })
            plan.onSync(hasSucceeded: true)
        } catch {
            for number in numbers { entries[number].failure = error }
            plan.onSync(hasSucceeded: false)
        }
    }

    private mutating func check(_ numbers: [Int], _ checked: inout CheckedPaths) {
        for number in numbers {
            do throws(FileError) {
                let intent = try intent(of: number)
                try requireFound(number, &checked)
                try operations.confirm(entries[number].file, under: intent)
                plan.onCheck(isInPlace: true, of: number)
            } catch {
                entries[number].failure = error
                plan.onCheck(isInPlace: false, of: number)
            }
        }
    }

    private mutating func withdraw(_ numbers: [Int]) {
        let gone = numbers.filter { number in
            guard let intent = entries[number].intent else { return false }
            return (try? operations.withdraw(entries[number].file, intent)) != nil
        }
        let isDurable = gone.isEmpty || (try? operations.sync([])) != nil
        for number in numbers { plan.onWithdrawal(isGone: isDurable && gone.contains(number), of: number) }
    }
}
