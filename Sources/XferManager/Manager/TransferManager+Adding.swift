import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
import XferStore

/// Adding tasks.
extension TransferManager {
    /// The highest number of tasks in one add.
    public static let largestAdd = 10_000

    /// The result of adding a task.
    public struct Added: Hashable, Sendable {
        public var id: TaskID
        /// Whether a `client_key` found the task of an earlier add.
        public var isExisting: Bool
    }

    /// Adds all drafts in one transaction, or none. When this returns, the tasks survive a power failure.
    ///
    /// - Parameter path: the prefix of field names in errors, by the draft's index.
    /// - Throws: `ManagerError`.
    public func add(
        _ drafts: some RandomAccessCollection<TaskDraft> & Sendable, for principal: Principal,
        path: @escaping @Sendable (Int) -> String = { _ in "" }
    ) async throws -> [Added] {
        try await commit(drafts, for: principal, path: path) { added, _, _ in added }
    }

    /// Adds one task, and returns it as committed.
    public func add(
        _ draft: TaskDraft, for principal: Principal
    ) async throws -> (task: TransferTask, isExisting: Bool) {
        try await commit([draft], for: principal, path: { _ in "" }) { added, newest, store in
            guard let task = try newest ?? store.task(added[0].id) else { throw ManagerError.notFound(added[0].id) }
            return (task: task, isExisting: added[0].isExisting)
        }
    }

    private func commit<Answer: Sendable>(
        _ drafts: some RandomAccessCollection<TaskDraft> & Sendable, for principal: Principal,
        path: @escaping @Sendable (Int) -> String,
        _ answer: @escaping @Sendable ([Added], _ newest: TransferTask?, StoreReader) throws -> Answer
    ) async throws -> Answer {
        guard !scheduler.holds.contains(.shuttingDown) else { throw ManagerError.shuttingDown }
        guard drafts.count <= Self.largestAdd else {
            throw ManagerError.limitExceeded(reason: "tasks in one add", limit: Self.largestAdd)
        }
        if let earlier = try await earlierAdds(of: drafts, for: principal.owner, answer) { return earlier }
        let admission = admission(for: principal)
        let spooling = try await spool(try await admission.admit(drafts, path: path), path: path)
        let admitted = spooling.tasks
        let rules = addRules(for: principal)
        let added: (answer: Answer, aftermath: AddAftermath)
        do {
            added = try await translatingStoreErrors {
                try await store.write(.rows(admitted.count)) { tx in
                    var aftermath = AddAftermath()
                    var added: [Added] = []
                    for run in admitted.runs {
                        var tasks = admitted[run]
                        if !admitted[run.lowerBound].isIndependent {
                            tasks = [try admitted[run.lowerBound].resolvingReferences(to: added)]
                        }
                        added += try Self.add(tasks, rules, in: tx, followedBy: &aftermath)
                    }
                    if aftermath.hasEnded { try tx.noteIdle(at: rules.now) }
                    try Self.requireRoom(of: principal, in: tx)
                    return (try answer(added, aftermath.newest, tx), aftermath)
                }
            }
        } catch {
            removeSpoolFiles(spooling.files.map(\.name))
            throw error
        }
        await removeUnwanted(spooling.files)
        await perform(added.aftermath.effects)
        // While the queue is held, the pass after the hold finds a task that has no conditions of its own.
        let isHeldBack = !scheduler.holds.isEmpty && !added.aftermath.hasEnded
        if !isHeldBack || admitted.contains(where: { !$0.specification.schedule.isEmpty }) { schedule() }
        return added.answer
    }

    /// What follows from adding tasks.
    struct AddAftermath: Sendable {
        /// The effects to perform after the commit.
        var effects: [Effect] = []
        /// Whether a task has ended: a new one, or one that was superseded in its slot.
        var hasEnded = false
        /// The task that was added last, unless it has changed since.
        var newest: TransferTask?
    }

    /// The result of an add that is repeated as a whole: it is not judged a second time, because conditions may have
    /// changed. Nil for any other add, including one whose key was used for a different request.
    private func earlierAdds<Answer: Sendable>(
        of drafts: some RandomAccessCollection<TaskDraft> & Sendable, for owner: Owner,
        _ answer: @escaping @Sendable ([Added], TransferTask?, StoreReader) throws -> Answer
    ) async throws -> Answer? {
        guard let first = drafts.first, first.clientKey != nil, first.asked != nil else { return nil }
        return try await translatingStoreErrors {
            try await store.read { reader in
                var found: [Added] = []
                for draft in drafts {
                    guard let key = draft.clientKey, let asked = draft.asked,
                        let id = try reader.earlierAdd(owner: owner, clientKey: key, asked: asked)
                    else { return nil }
                    found.append(Added(id: id, isExisting: true))
                }
                return try answer(found, nil, reader)
            }
        }
    }

    /// The inputs for adding tasks.
    struct AddRules: Sendable {
        var principal: Principal
        var failedURLs: FailedURLList
        var zones: TimeZones
        var now: Timestamp
    }

    func addRules(for principal: Principal) -> AddRules {
        AddRules(principal: principal, failedURLs: failedURLs, zones: zones, now: clock())
    }

    /// Adds one of `runs`, as members of the batch if there is one.
    static func add(
        _ run: ArraySlice<AdmittedTask>, to batch: BatchID? = nil, _ rules: AddRules, in tx: StoreTransaction,
        followedBy aftermath: inout AddAftermath
    ) throws -> [Added] {
        aftermath.newest = nil
        if let first = run.first, !first.isIndependent {
            if let earlier = try earlier(first, in: tx) { return [earlier] }
            try requireChance(of: first, rules, in: tx)
        }
        let tasks = try tx.insertTasks(run.map(\.insertion), batch: batch, at: rules.now)
        let places = Array(zip(run.indices, tasks.indices))
        try tx.append(
            places.map { admitted, task in
                NewEvent(
                    .taskAdded(
                        url: run[admitted].shownURL, label: tasks[task].specification.label,
                        group: tasks[task].specification.group),
                    taskID: tasks[task].id, owner: tasks[task].owner)
            }, at: rules.now)
        let mayBeBlocked = try rules.failedURLs.hasEntries(in: tx)
        var isLastUnchanged = true
        for (admitted, task) in places where mayBeBlocked || !run[admitted].isIndependent {
            isLastUnchanged = try !settle(
                tasks[task], run[admitted], mayBeBlocked: mayBeBlocked, rules, in: tx, followedBy: &aftermath)
        }
        if isLastUnchanged { aftermath.newest = tasks.last }
        return tasks.map { Added(id: $0.id, isExisting: false) }
    }

    /// The task of an earlier add with the same `client_key`.
    private static func earlier(_ admitted: AdmittedTask, in tx: StoreTransaction) throws -> Added? {
        let insertion = admitted.insertion
        guard admitted.specification.clientKey != nil,
            let earlier = try tx.earlierAdd(
                of: insertion.specification, body: insertion.body, asked: insertion.asked)
        else { return nil }
        guard earlier.askedForTheSame else { throw ManagerError.keyReused(existing: earlier.id) }
        return Added(id: earlier.id, isExisting: true)
    }

    /// Checks what depends on the current state of the database.
    private static func requireChance(of admitted: AdmittedTask, _ rules: AddRules, in tx: StoreTransaction) throws {
        let specification = admitted.specification
        try requirePolicy(of: specification, in: tx)
        guard !specification.schedule.isEmpty else { return }
        try requireChance(
            of: specification.schedule, for: rules.principal, path: admitted.path, rules.zones, in: tx, at: rules.now)
    }

    /// Applies the effects of a new task: on its spool files, on a task it supersedes in its slot, and on itself.
    /// Returns whether it may have changed.
    private static func settle(
        _ task: TransferTask, _ admitted: AdmittedTask, mayBeBlocked: Bool, _ rules: AddRules, in tx: StoreTransaction,
        followedBy aftermath: inout AddAftermath
    ) throws -> Bool {
        try tx.insertSpooledSources(admitted.insertion.body?.sources.compactMap(\.spoolName) ?? [], of: task.id)
        let superseded = try supersede(by: task, in: tx, at: rules.now)
        aftermath.effects += superseded
        if !superseded.isEmpty { aftermath.hasEnded = true }
        if try mayBeBlocked && !admitted.retriesFailed && block(task, rules.failedURLs, in: tx, at: rules.now) {
            aftermath.hasEnded = true
            return true
        }
        guard !task.specification.schedule.isEmpty else { return false }
        try begin(task, rules.zones, in: tx, at: rules.now)
        return true
    }

    /// Ends a new task whose URL is on the list of failed URLs; false if it is not.
    private static func block(
        _ task: TransferTask, _ failedURLs: FailedURLList, in tx: StoreTransaction, at now: Timestamp
    ) throws -> Bool {
        guard let refusal = try failedURLs.refusal(of: task.specification, in: tx, at: now) else { return false }
        var machine = TaskStateMachine(task)
        let transition = machine.onBlocked(refusal, at: now)
        try tx.update(machine.task)
        if let event = transition.event { try tx.append(event, taskID: task.id, owner: task.owner, at: now) }
        return true
    }

    func admission(for principal: Principal) -> TaskAdmission {
        TaskAdmission(
            principal: principal, settings: settings, pool: services.pool, directories: directories,
            rights: services.rights,
            policies: services.policies.withLockedValue(\.resolver),
            requests: RequestAdmission(
                rules: services.admission.withLockedValue(\.self), isOperator: principal.isOperator, store: store),
            content: ContentAdmission(principal: principal, rights: services.rights, pool: services.pool),
            zones: zones,
            coalesceKeys: coalesceKeys, now: clock())
    }

    /// Checks that the policy still exists; it may have been removed since admission.
    static func requirePolicy(of specification: TaskSpecification, in tx: StoreTransaction) throws {
        guard let name = specification.policy, try tx.policy(named: name) == nil else { return }
        throw ManagerError(PolicyResolutionError.policyMissing(name), path: "")
    }

    /// Checks the owner's limit. Tasks just added count, tasks they superseded do not; an error rolls back the
    /// transaction.
    static func requireRoom(of principal: Principal, in tx: StoreTransaction) throws {
        guard let maxTasks = principal.maxTasks else { return }
        let counts = try tx.counts(owner: principal.owner)
        let unfinished = counts.reduce(0) { $1.key.isTerminal ? $0 : $0 + $1.value }
        guard unfinished <= Int64(clamping: maxTasks) else {
            throw ManagerError.limitExceeded(reason: "unfinished tasks of this user", limit: maxTasks)
        }
    }
}

extension TransferManager {
    /// Converts errors of a store that cannot be used now to `storageUnavailable`.
    nonisolated func translatingStoreErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch StoreError.degraded(let reason) {
            throw ManagerError.storageUnavailable(reason: reason)
        } catch StoreError.closed {
            throw ManagerError.storageUnavailable(reason: StoreError.closed.description)
        }
    }
}
