public import XferModel

/// The state of the files of one directory on their way from the last byte to the final name. It decides the next step,
/// the files it is for, and the meaning of each result.
///
/// The steps of a file are in this order: a name is chosen, the intent is committed, the name is given, the name is
/// made durable, the result is checked. A name that another file or task takes meanwhile leads back to the first step.
/// A check that fails takes the name away again.
///
/// A step is taken for all files that are due for it, the latest step first. So one commit and one sync of the
/// directory serve many files, and a file that has lost its name does not delay others. A round performs nothing
/// itself. After a crash `PublishRecovery` decides.
public struct PublishRound: Hashable, Sendable {
    /// The next step, with the numbers of its files, ascending.
    public enum Step: Hashable, Sendable {
        /// Choose a name by the conflict policy, none of those that are `isReserved`. Then call `onChoice`.
        case choose([Int])
        /// Commit the intents. Then call `onCommit`.
        case commit([Int])
        /// Give the files their names. Then call `onNaming`.
        case name([Int])
        /// Make the names durable: one sync of the directory. Then call `onSync`.
        case sync([Int])
        /// Check that the files are under their names, and that their paths lead there. Then call `onCheck`.
        case check([Int])
        /// Remove the names again, durably. Then call `onWithdrawal`.
        case withdraw([Int])
    }

    /// The result of choosing a name.
    public enum Choice: Hashable, Sendable {
        /// A free name, or that of a file that is to be replaced.
        case name(String, isReplacing: Bool)
        /// Another file has the name, and stays.
        case skip
        /// Another file of this round is about to get the name. It decides the conflict, or is replaced once it has it.
        case wait
        /// The file is not to be published any more.
        case stop
        case failed
    }

    /// The result of committing an intent, or of giving a name.
    public enum Naming: Hashable, Sendable {
        case done
        /// Another task or file has the name.
        case taken
        /// Nothing has changed.
        case failed
        /// The name may have been given.
        case unknown
    }

    /// The end of a file in the round.
    public enum End: Hashable, Sendable {
        /// The name leads to the file, durably.
        case published
        /// Another file has the name, and stays.
        case skipped
        case stopped
        /// Others have taken every name before this file could.
        case outraced
        /// The file has no name.
        case failed
        /// The file may have its name: only its intent can show that, later.
        case uncertain
    }

    private enum State: Int, Hashable, Sendable {
        case choosing, committing, naming, syncing, checking, withdrawing, ended
    }

    private struct Course: Hashable, Sendable {
        /// The requested name.
        let wanted: String
        let policy: ConflictPolicy
        var state = State.choosing
        var end = End.failed
        var name = ""
        var isReplacing = false
        /// Names that this file has lost to others.
        var lost: Set<String> = []
        var isIntended = false
    }

    private var courses: [Course]
    private let mostLostNames: Int
    /// The names that files of this round are about to get.
    private var claimed: Set<String> = []
    /// The files that have ended, in the order of their ends.
    public private(set) var ended: [Int] = []

    /// - Parameters:
    ///   - files: the requested names, and the policies for the case that they are taken.
    ///   - mostLostNames: the number of names lost to others after which a file ends as `outraced`.
    public init(_ files: [(name: String, policy: ConflictPolicy)], mostLostNames: Int) {
        courses = files.map { Course(wanted: $0.name, policy: $0.policy) }
        self.mostLostNames = max(1, mostLostNames)
    }

    /// The next step; nil when all files have ended.
    public var next: Step? {
        guard let state = courses.lazy.map(\.state).filter({ $0 != .ended }).max(by: { $0.rawValue < $1.rawValue })
        else {
            return nil
        }
        let files = courses.indices.filter { courses[$0].state == state }
        switch state {
        case .choosing: return .choose(files)
        case .committing: return .commit(files)
        case .naming: return .name(files)
        case .syncing: return .sync(files)
        case .checking: return .check(files)
        case .withdrawing: return .withdraw(files)
        case .ended: return nil
        }
    }

    // MARK: Facts about a file

    /// The end of a file; nil while it has not ended.
    public func end(of file: Int) -> End? { courses[file].state == .ended ? courses[file].end : nil }

    /// The name that was chosen last.
    public func name(of file: Int) -> String { courses[file].name }

    /// True if the file replaces the one that has its name.
    public func isReplacing(_ file: Int) -> Bool { courses[file].isReplacing }

    /// True if an intent of the file was committed, which the database has until it is removed.
    public func isIntended(_ file: Int) -> Bool { courses[file].isIntended }

    /// True if a file may not choose this name: it has lost the name, or another file of the round is about to get it.
    public func isReserved(_ name: String, for file: Int) -> Bool {
        claimed.contains(name) || courses[file].lost.contains(name)
    }

    /// True if the file has to wait for another one of the round that is about to get its requested name.
    public func mustWait(_ file: Int) -> Bool {
        courses[file].policy != .rename && claimed.contains(courses[file].wanted)
    }

    // MARK: Results

    public mutating func onChoice(_ choice: Choice, of file: Int) {
        guard isIn(.choosing, file) else { return }
        switch choice {
        case .name(let name, let isReplacing):
            // The caller has not asked what is reserved: the file chooses again.
            guard claimed.insert(name).inserted else { return }
            courses[file].name = name
            courses[file].isReplacing = isReplacing
            courses[file].state = .committing
        case .skip: finish(file, .skipped)
        case .wait: break
        case .stop: finish(file, .stopped)
        case .failed: finish(file, .failed)
        }
    }

    public mutating func onCommit(_ result: Naming, of file: Int) {
        guard isIn(.committing, file) else { return }
        switch result {
        case .done:
            courses[file].isIntended = true
            courses[file].state = .naming
        case .taken: loseName(file)
        case .failed, .unknown: finish(file, .failed)
        }
    }

    public mutating func onNaming(_ result: Naming, of file: Int) {
        guard isIn(.naming, file) else { return }
        switch result {
        case .done: courses[file].state = .syncing
        case .taken: loseName(file)
        case .failed: finish(file, .failed)
        case .unknown: finish(file, .uncertain)
        }
    }

    /// Reports the sync of the directory, for all files that were due for it.
    public mutating func onSync(hasSucceeded: Bool) {
        for file in courses.indices where courses[file].state == .syncing {
            if hasSucceeded { courses[file].state = .checking } else { finish(file, .uncertain) }
        }
    }

    public mutating func onCheck(isInPlace: Bool, of file: Int) {
        guard isIn(.checking, file) else { return }
        if isInPlace {
            finish(file, .published)
        } else if courses[file].isReplacing {
            // The file that it has replaced cannot come back.
            finish(file, .uncertain)
        } else {
            courses[file].state = .withdrawing
        }
    }

    /// Reports that the name of a file was removed again.
    ///
    /// - Parameter isGone: true if the name certainly no longer leads to the file, even after a crash.
    public mutating func onWithdrawal(isGone: Bool, of file: Int) {
        guard isIn(.withdrawing, file) else { return }
        finish(file, isGone ? .failed : .uncertain)
    }

    // MARK: Parts of the results

    private func isIn(_ state: State, _ file: Int) -> Bool {
        courses.indices.contains(file) && courses[file].state == state
    }

    private mutating func loseName(_ file: Int) {
        claimed.remove(courses[file].name)
        courses[file].lost.insert(courses[file].name)
        courses[file].state = .choosing
        if courses[file].lost.count >= mostLostNames { finish(file, .outraced) }
    }

    private mutating func finish(_ file: Int, _ end: End) {
        if courses[file].state.rawValue > State.choosing.rawValue { claimed.remove(courses[file].name) }
        courses[file].state = .ended
        courses[file].end = end
        ended.append(file)
    }
}
