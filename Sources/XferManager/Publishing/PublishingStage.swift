import XferFiles
import XferModel
import XferStore

/// Collects whole files for the rounds of their directories: files that arrive during a round form the next one.
///
/// Rounds of one directory follow each other, so that no file gets a name that another is about to take. Different
/// directories run in parallel. The run's end commits the task's completion.
actor PublishingStage {
    /// Commits the intent, a flag that is true if it replaces a file, and further facts that a restart needs. Returns
    /// false and writes nothing if another task has claimed the name.
    typealias Commit = @Sendable (StoreTransaction, PublishIntent, Bool) throws -> Bool

    /// The highest number of files in one round. It limits how long the next round waits.
    private static let largestRound = 256

    private let store: TaskStore
    private let pool: @Sendable (DirectoryHandle) -> BlockingPool
    /// The files that wait for the next round, by directory. A directory is a key while a round is under way.
    private var waiting: [FileIdentity: [Entry]] = [:]

    private struct Entry: Sendable {
        let file: PublishingFile
        let directory: DirectoryHandle
        let commit: Commit
        let onIntent: @Sendable () -> Void
        let answer: CheckedContinuation<PublishingRound.Outcome, Never>
    }

    /// - Parameter pool: returns the threads for a directory.
    init(store: TaskStore, pool: @escaping @Sendable (DirectoryHandle) -> BlockingPool) {
        self.store = store
        self.pool = pool
    }

    /// Returns when the file durably has its final name, or will not get one.
    ///
    /// - Parameter onIntent: called after each commit of an intent. A further intent follows if the name is taken
    ///   meanwhile.
    func publish(
        _ file: PublishingFile, in directory: DirectoryHandle, committing commit: @escaping Commit,
        onIntent: @escaping @Sendable () -> Void = {}
    ) async -> PublishingRound.Outcome {
        await withCheckedContinuation { answer in
            let entry = Entry(file: file, directory: directory, commit: commit, onIntent: onIntent, answer: answer)
            guard waiting[directory.identity] == nil else {
                waiting[directory.identity, default: []].append(entry)
                return
            }
            waiting[directory.identity] = [entry]
            Task { await carryOutRounds(in: directory.identity) }
        }
    }

    private func carryOutRounds(in directory: FileIdentity) async {
        while let all = waiting[directory], let first = all.first {
            let entries = Array(all.prefix(Self.largestRound))
            waiting[directory]?.removeFirst(entries.count)
            var round = PublishingRound(entries.map(\.file), in: first.directory, on: pool(first.directory))
            await round.carryOut { [store] intended in
                let results = await store.write(
                    each: intended.map { intended in
                        { [commit = entries[intended.file].commit] tx in
                            try commit(tx, intended.intent, intended.isReplacing)
                        }
                    })
                for (intended, result) in zip(intended, results) where (try? result.get()) == true {
                    entries[intended.file].onIntent()
                }
                return results
            } onEnd: { number, outcome in
                entries[number].answer.resume(returning: outcome)
            }
        }
        waiting[directory] = nil
    }
}
