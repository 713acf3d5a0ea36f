public import XferModel
import XferSystem

/// The tasks with uncommitted starts: brief runs, whose rows have the state `queued` although the tasks run.
///
/// A transaction adds tasks (`StoreTransaction.addUncommittedStart`), and a rollback removes those that it added: a
/// closure that is executed again finds the previous state.
///
/// Invariant: while the start of a task is not committed, only its run changes its row (`StoreTransaction.asStarter`).
/// Any other change-set that would change it is rolled back and waits until the task is released, then runs again. So
/// every verb finds either a task that is queued and does not run, or one whose start is committed.
public final class UncommittedStarts: Sendable {
    private struct State {
        var ids: Set<TaskID> = []
        var waiting: [any ChangeSet] = []
        /// The change-sets that have waited and are not executed yet. While there are any, no start stays uncommitted.
        var retried: Set<ObjectIdentifier> = []
        var onWanted: (@Sendable () -> Void)?
        var onRead: (@Sendable () async -> Void)?
        var submit: (@Sendable ([any ChangeSet]) -> Void)?
    }

    private let state = Locked(State())

    /// Sets the callback for a change-set that begins to wait. It has to lead to a `release` of the tasks.
    public func setWanted(_ onWanted: @escaping @Sendable () -> Void) { state.withLock { $0.onWanted = onWanted } }

    /// Sets the callback that commits the starts that can be committed now, before tasks are read by their states.
    public func setOnRead(_ onRead: @escaping @Sendable () async -> Void) { state.withLock { $0.onRead = onRead } }

    /// Commits the starts that can be committed now.
    func prepareRead() async {
        guard let onRead = state.withLock({ $0.ids.isEmpty ? nil : $0.onRead }) else { return }
        await onRead()
    }

    /// Sets the callback that executes change-sets again.
    func setSubmit(_ submit: @escaping @Sendable ([any ChangeSet]) -> Void) { state.withLock { $0.submit = submit } }

    /// True if a change-set waits, or has waited and is not executed yet: then starts have to be committed.
    public var isWanted: Bool { state.withLock { !$0.waiting.isEmpty || !$0.retried.isEmpty } }

    /// The number of tasks with uncommitted starts.
    public var count: Int { state.withLock { $0.ids.count } }

    func contains(_ id: TaskID) -> Bool { state.withLock { $0.ids.contains(id) } }

    func first(of ids: some Sequence<TaskID>) -> TaskID? {
        state.withLock { state in state.ids.isEmpty ? nil : ids.first { state.ids.contains($0) } }
    }

    /// The tasks without an uncommitted start, in their order.
    public func removeUncommitted(from ids: [TaskID]) -> [TaskID] {
        state.withLock { state in state.ids.isEmpty ? ids : ids.filter { !state.ids.contains($0) } }
    }

    /// Adds a task; returns false if it was added already.
    func insert(_ id: TaskID) -> Bool { state.withLock { $0.ids.insert(id).inserted } }

    /// Releases tasks and executes the change-sets that waited. A scheduling pass has to follow: it may start them.
    public func release(_ ids: some Sequence<TaskID>) {
        let (waiting, submit) = state.withLock { state -> ([any ChangeSet], (@Sendable ([any ChangeSet]) -> Void)?) in
            state.ids.subtract(ids)
            defer { state.waiting = [] }
            return (state.waiting, state.submit)
        }
        if !waiting.isEmpty { submit?(waiting) }
    }

    // MARK: For GroupCommit

    /// Makes the change-set wait for the next release, unless the task has been released since the change-set found its
    /// start uncommitted.
    func add(_ change: any ChangeSet, for task: TaskID) {
        let (isUncommitted, onWanted, submit) = state.withLock { state in
            state.retried.insert(ObjectIdentifier(change))
            let isUncommitted = state.ids.contains(task)
            if isUncommitted { state.waiting.append(change) }
            return (isUncommitted, state.onWanted, state.submit)
        }
        if isUncommitted { onWanted?() } else { submit?([change]) }
    }

    /// Called when the change-set was executed, or has failed for another reason.
    func onEnd(of change: any ChangeSet) {
        state.withLock { state in
            if !state.retried.isEmpty { state.retried.remove(ObjectIdentifier(change)) }
        }
    }

    /// The change-sets that wait, when the store is closed.
    func removeWaiting() -> [any ChangeSet] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
