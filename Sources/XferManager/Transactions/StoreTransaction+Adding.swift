import XferCore
public import XferModel
import XferStore

/// The result of adding a task.
public struct AddedTask: Hashable, Sendable {
    public var id: TaskID
    /// True if a `client_key` found the task of an earlier add.
    public var isExisting: Bool
}

/// The inputs for adding tasks.
struct AddRules: Sendable {
    var principal: Principal
    var failedURLs: FailedURLList
    /// The limit in bytes; see `ManagerSettings.maxStoredPerUser`.
    var maxStored: Int64
    var inputs: ConditionInputs
    var now: Timestamp
}

/// The work that follows the adding of tasks.
struct AddAftermath: Sendable {
    /// The effects to perform after the commit.
    var effects: [Effect] = []
    /// True if a task has ended: a new one, or one that was superseded in its slot.
    var hasEnded = false
    /// The number of tasks that were read for `after_batch` and `after_group`.
    var joined: Int64 = 0
    /// The task that was added last, unless it has changed since.
    var newest: TransferTask?
}

/// Adds admitted tasks, and checks the conditions that depend on the current state of the database.
extension StoreTransaction {
    /// Adds one of `runs`, as members of the batch if there is one.
    func add(
        _ run: ArraySlice<AdmittedTask>, to batch: BatchID? = nil, _ rules: AddRules,
        followedBy aftermath: inout AddAftermath
    ) throws -> [AddedTask] {
        aftermath.newest = nil
        if let first = run.first, !first.isIndependent {
            if let earlier = try earlier(first) { return [earlier] }
            try requireChance(of: first, rules, joined: &aftermath.joined)
        }
        let tasks = try self.tasks.insert(run.map(\.insertion), batch: batch, at: rules.now)
        let places = Array(zip(run.indices, tasks.indices))
        try events.append(
            places.map { admitted, task in
                NewEvent(
                    .taskAdded(
                        url: run[admitted].shownURL, label: tasks[task].specification.label,
                        group: tasks[task].specification.group),
                    taskID: tasks[task].id, owner: tasks[task].owner)
            }, at: rules.now)
        let mayBeBlocked = try rules.failedURLs.hasEntries(in: self)
        var isLastUnchanged = true
        for (admitted, task) in places where mayBeBlocked || !run[admitted].isIndependent {
            isLastUnchanged = try !settle(
                tasks[task], run[admitted], mayBeBlocked: mayBeBlocked, rules, followedBy: &aftermath)
        }
        if isLastUnchanged { aftermath.newest = tasks.last }
        return tasks.map { AddedTask(id: $0.id, isExisting: false) }
    }

    /// The task of an earlier add with the same `client_key`.
    private func earlier(_ admitted: AdmittedTask) throws -> AddedTask? {
        let insertion = admitted.insertion
        guard admitted.specification.clientKey != nil,
            let earlier = try tasks.earlierAdd(
                of: insertion.specification, body: insertion.body, requestText: insertion.requestText)
        else { return nil }
        guard earlier.isSameRequest else {
            throw ManagerError.keyReused(existing: earlier.id, path: admitted.path + "client_key")
        }
        return AddedTask(id: earlier.id, isExisting: true)
    }

    /// Checks the conditions that depend on the current state of the database.
    private func requireChance(
        of admitted: AdmittedTask, _ rules: AddRules, joined: inout Int64
    ) throws {
        let specification = admitted.specification
        try requirePolicy(of: specification)
        guard !specification.schedule.isEmpty else { return }
        try conditions.requireChance(
            of: specification.schedule, for: rules.principal, path: admitted.path, rules.inputs, joined: &joined,
            at: rules.now)
    }

    /// Applies the effects of a new task: on its spool files, on a task it supersedes in its slot, and on itself.
    /// Returns true if it may have changed.
    private func settle(
        _ task: TransferTask, _ admitted: AdmittedTask, mayBeBlocked: Bool, _ rules: AddRules,
        followedBy aftermath: inout AddAftermath
    ) throws -> Bool {
        if let body = admitted.insertion.body { try spool.insertSources(of: body, of: task.id) }
        let superseded = try supersede(by: task, at: rules.now)
        aftermath.effects += superseded
        if !superseded.isEmpty { aftermath.hasEnded = true }
        if try mayBeBlocked && !admitted.retriesFailed && block(task, rules.failedURLs, at: rules.now) {
            aftermath.hasEnded = true
            return true
        }
        guard !task.specification.schedule.isEmpty else { return false }
        try conditions.begin(task, rules.inputs, at: rules.now)
        return true
    }

    /// Ends a new task whose URL is on the list of failed URLs; false if it is not.
    private func block(
        _ task: TransferTask, _ failedURLs: FailedURLList, at now: Timestamp
    ) throws -> Bool {
        guard let refusal = try failedURLs.refusal(of: task.specification, in: self, at: now) else { return false }
        try transition(task, at: now) { $0.onBlocked(refusal, at: now) }
        return true
    }

    /// Checks that the policy still exists; it may have been removed since admission.
    func requirePolicy(of specification: TaskSpecification) throws {
        guard let name = specification.policy, try !policies.exists(named: name) else { return }
        throw ManagerError(PolicyResolutionError.policyMissing(name), path: "")
    }

    /// Checks the owner's limit. Tasks just added count, tasks they superseded do not; an error rolls back the
    /// transaction.
    func requireRoom(of principal: Principal, maxStored: Int64) throws {
        try requireStorage(of: principal, maxStored: maxStored)
        guard let maxTasks = principal.maxTasks else { return }
        let counts = try self.counts.byState(owner: principal.owner)
        let unfinished = counts.reduce(0) { $1.key.isTerminal ? $0 : $0 + $1.value }
        guard unfinished <= Int64(clamping: maxTasks) else {
            throw ManagerError.tooManyTasks(of: principal.owner, limit: maxTasks)
        }
    }

    /// Checks the limit of the bytes that are kept for the owner's tasks; an error rolls back the transaction.
    func requireStorage(of principal: Principal, maxStored: Int64) throws {
        guard !principal.isOperator else { return }
        let stored = try storedBytes.total(of: principal.owner)
        guard stored <= maxStored else { throw ManagerError.storedTooMuch(stored, limit: maxStored) }
    }
}
