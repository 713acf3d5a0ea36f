import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
public import XferProtocol
import XferStore

/// Adds tasks and changes them for callers: decides within a store transaction, commits, and passes the consequences to
/// the scheduler. It has no state of its own.
public struct TaskCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler
    let discarder: TransferDiscarder
    let queries: TaskQueries
}

/// Adding of tasks.
extension TaskCommands {
    /// The highest number of tasks in one add.
    public static let largestAdd = 10_000

    /// Adds all tasks in one transaction, or none. When this returns, they survive a power failure.
    ///
    /// - Parameters:
    ///   - defaults: the values for fields that a task does not set.
    ///   - path: the prefix of field names in errors, by the task's index.
    /// - Throws: `ManagerError`.
    public func add(
        _ tasks: [NewTask], _ defaults: TaskDefaults, for principal: Principal,
        path: @escaping @Sendable (Int) -> String
    ) async throws -> [AddedTask] {
        try await commit(tasks, defaults, for: principal, path: path) { added, _, _ in added }
    }

    /// Adds one task, and returns it as committed.
    public func add(
        _ task: NewTask, _ defaults: TaskDefaults, for principal: Principal
    ) async throws -> (task: TransferTask, isExisting: Bool) {
        try await commit([task], defaults, for: principal, path: { _ in "" }, Self.firstTask)
    }

    /// The answer to an add of one task.
    @Sendable
    static func firstTask(
        _ added: [AddedTask], newest: TransferTask?, store: StoreReader
    ) throws -> (task: TransferTask, isExisting: Bool) {
        guard let task = try newest ?? store.tasks.find(added[0].id) else { throw ManagerError.notFound(added[0].id) }
        return (task: task, isExisting: added[0].isExisting)
    }

    func commit<Answer: Sendable>(
        _ tasks: [some AdmissibleTask], _ defaults: TaskDefaults, for principal: Principal,
        path: @escaping @Sendable (Int) -> String,
        _ answer: @escaping @Sendable ([AddedTask], _ newest: TransferTask?, StoreReader) throws -> Answer
    ) async throws -> Answer {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        guard tasks.count <= Self.largestAdd else {
            throw ManagerError.limitExceeded(reason: "tasks in one add", limit: Self.largestAdd)
        }
        try await requireStateRoom(for: principal)
        let requestText = tasks.contains { $0.clientKey != nil } ? tasks.map(\.requestText) : []
        if let earlier = try await earlierAdds(of: tasks, requestText, for: principal.owner, answer) { return earlier }
        let admission = admission(for: principal)
        let judged = try await admission.admit(tasks, requestText: requestText, defaults, path: path)
        try Self.requireFewDependencies(of: judged)
        try CallDestinations.requireDistinct(judged)
        let room = SpoolRoom(of: principal, maxStored: settings.maxStoredPerUser, services)
        defer { withExtendedLifetime(room) {} }
        let spooling = try await services.spoolSources(of: judged, in: room, path: path)
        let admitted = spooling.tasks
        let rules = addRules(for: principal)
        let added: (answer: Answer, aftermath: AddAftermath)
        do {
            added = try await translatingStoreErrors {
                try await store.write(.rows(admitted.count)) { tx in
                    var aftermath = AddAftermath()
                    var added: [AddedTask] = []
                    for run in admitted.runs {
                        var tasks = admitted[run]
                        if !admitted[run.lowerBound].isIndependent {
                            tasks = [try admitted[run.lowerBound].resolvingReferences(to: added)]
                        }
                        do {
                            added += try tx.add(tasks, rules, followedBy: &aftermath)
                        } catch ManagerError.keyReused(let existing, let path) {
                            // An id that this transaction gives is given again once it was rolled back.
                            guard let index = added.firstIndex(where: { $0.id == existing && !$0.isExisting }) else {
                                throw ManagerError.keyReused(existing: existing, path: path)
                            }
                            throw ManagerError.keyRepeated(path: path, earlier: "tasks[\(index)]")
                        }
                    }
                    if aftermath.hasEnded { try tx.appendIdleIfNothingRuns(at: rules.now) }
                    try tx.requireRoom(of: principal, maxStored: rules.maxStored)
                    return (try answer(added, aftermath.newest, tx), aftermath)
                }
            }
        } catch {
            services.removeSpoolFiles(spooling.files.map(\.name))
            throw error
        }
        await services.removeUnwanted(spooling.files)
        if !added.aftermath.effects.isEmpty { await scheduler.perform(added.aftermath.effects) }
        let needsPass = added.aftermath.hasEnded || admitted.contains { !$0.specification.schedule.isEmpty }
        await scheduler.schedule(unlessHeld: !needsPass)
        return added.answer
    }

    /// Refuses an add whose tasks have so many others in `after` that the transaction would delay all other changes.
    static func requireFewDependencies(of admitted: some Sequence<AdmittedTask>) throws(ManagerError) {
        let count = admitted.reduce(0) { $0.addingSaturated($1.specification.schedule.after.count) }
        guard count > TaskLimits.dependenciesOfCall else { return }
        throw .limitExceeded(
            reason: "tasks in after of all tasks of one add", limit: TaskLimits.dependenciesOfCall)
    }

    /// The result of an add that is repeated as a whole: it is not judged a second time, because conditions may have
    /// changed. Nil for any other add, including one whose key was used for a different request.
    private func earlierAdds<Answer: Sendable>(
        of tasks: [some AdmissibleTask], _ requestText: [String?], for owner: Owner,
        _ answer: @escaping @Sendable ([AddedTask], TransferTask?, StoreReader) throws -> Answer
    ) async throws -> Answer? {
        guard case _?? = requestText.first else { return nil }
        return try await translatingStoreErrors {
            try await store.read { reader in
                var found: [AddedTask] = []
                for (task, requestText) in zip(tasks, requestText) {
                    guard let key = task.clientKey, let requestText,
                        let id = try reader.tasks.earlierAdd(owner: owner, clientKey: key, requestText: requestText)
                    else { return nil }
                    found.append(AddedTask(id: id, isExisting: true))
                }
                return try answer(found, nil, reader)
            }
        }
    }

    func addRules(for principal: Principal) -> AddRules {
        AddRules(
            principal: principal, failedURLs: failedURLs, maxStored: settings.maxStoredPerUser, inputs: conditionInputs,
            now: clock())
    }
}
