import XferCore
import XferModel
import XferProtocol
import XferStore

/// `after`, `after_batch` and `after_group`: tasks that start when others have completed.
extension DependencyTable where Store == StoreTransaction {
    /// The highest number of tasks checked for a cycle. A longer chain cannot be changed.
    private static var longestChain: Int { 100_000 }

    /// Throws unless the tasks in `after` exist and the caller may see them.
    ///
    /// - Parameter field: the field's name in errors, such as `tasks[3].after`.
    func requireTargets(
        _ targets: [TaskID], for principal: Principal, field: String
    ) throws {
        guard !targets.isEmpty else { return }
        let found = try store.tasks.existing(targets, of: principal.visibleOwner)
        for (index, target) in targets.enumerated() where !found.contains(target) {
            throw ManagerError.dependencyNotFound(target, path: "\(field)[\(index)]")
        }
    }

    /// Throws unless the batch in `after_batch` exists and the caller may see it. Returns the number of tasks that
    /// `record(targetsOf:)` reads for the batch and the group; `read` is that of the earlier tasks of the same call.
    ///
    /// - Parameter path: the prefix of field names in errors, such as `tasks[3].`.
    func requireJoin(
        of schedule: TaskSchedule, owner: Owner, after read: Int64 = 0, for principal: Principal, path: String
    ) throws -> Int64 {
        var count = read
        if let id = schedule.afterBatch {
            guard let batch = try store.batches.find(id), principal.visibleOwner.map({ $0 == batch.owner }) ?? true
            else {
                throw ManagerError.batchNotFound(id, path: path + "after_batch")
            }
            count = count.addingSaturated(batch.counts.values.saturatedSum)
        }
        if let group = schedule.afterGroup {
            count = count.addingSaturated(try store.counts.byState(owner: owner, group: group).values.saturatedSum)
        }
        guard count <= Int64(clamping: TaskLimits.dependenciesOfCall) else {
            throw ManagerError.limitExceeded(
                reason:
                    "tasks of the batches and groups in after_batch and after_group of one call, ended ones included",
                limit: TaskLimits.dependenciesOfCall)
        }
        return count
    }

    /// Records the tasks that this one waits for: those in `after`, the members of a batch, and the unfinished tasks of
    /// a group. Tasks that are added later do not count, so that no circle can arise, and the wait has an end.
    func record(targetsOf task: TransferTask) throws {
        let schedule = task.specification.schedule
        try set(of: task.id, on: schedule.after)
        if let batch = schedule.afterBatch { try add(of: task.id, onMembersOf: batch) }
        if let group = schedule.afterGroup {
            try add(of: task.id, onTasksOf: GroupKey(owner: task.owner, name: group))
        }
    }

    /// Checks and records the tasks that a changed task waits for.
    ///
    /// - Parameter path: the prefix of field names in errors.
    func change(targetsOf task: TransferTask, for principal: Principal, path: String) throws {
        let field = path + "after"
        let targets = task.specification.schedule.after
        for (index, target) in targets.enumerated() {
            guard target != task.id else {
                throw ManagerError.invalidField(
                    path: "\(field)[\(index)]", reason: "task \(target) cannot wait for itself",
                    expected: "ids of other tasks")
            }
        }
        try requireTargets(targets, for: principal, field: field)
        _ = try requireJoin(of: task.specification.schedule, owner: task.owner, for: principal, path: path)
        try record(targetsOf: task)
    }

    /// Refuses changed dependencies that would make tasks wait for each other. A new task cannot cause that, because no
    /// task waits for it yet.
    func requireNoCircle(through task: TaskID, field: String) throws {
        guard let circle = try circle(through: task) else { return }
        let named = circle.map(\.description).joined(separator: " → ")
        throw ManagerError.invalidField(
            path: field, reason: "tasks would wait for each other: \(named)", expected: "no cycle")
    }

    /// The tasks of a cycle of dependencies through `start`; nil if there is no cycle.
    private func circle(through start: TaskID) throws -> [TaskID]? {
        var cameFrom: [TaskID: TaskID] = [:]
        var pending = [start]
        while let id = pending.popLast() {
            for target in try unmetTargets(of: id) {
                if target == start { return Self.way(to: id, from: start, cameFrom) }
                guard cameFrom[target] == nil else { continue }
                guard cameFrom.count < Self.longestChain else {
                    throw ManagerError.limitExceeded(reason: "tasks waiting for each other", limit: Self.longestChain)
                }
                cameFrom[target] = id
                pending.append(target)
            }
        }
        return nil
    }

    private static func way(to end: TaskID, from start: TaskID, _ cameFrom: [TaskID: TaskID]) -> [TaskID] {
        var way = [start, end]
        var id = end
        while id != start, let earlier = cameFrom[id] {
            way.append(earlier)
            id = earlier
        }
        return way.reversed()
    }

    /// Notifies one step of dependents how tasks ended. A failure passes along a chain link by link: each dependent
    /// that fails is an ended task for its own dependents.
    func notifyDependents(_ inputs: ConditionInputs, at now: Timestamp) throws {
        var left = StoreTransaction.largestStep
        while left > 0, let ended = try nextEndedTarget() {
            // The task was retried before all dependents were notified: the rest continues to wait for it.
            let target = try StoreError.nilIfUnreadable { try store.tasks.find(ended.id) }
            if let target, !target.state.isTerminal {
                try removeEndedTarget(ended.id)
                left -= 1
                continue
            }
            let dependents = try openDependents(of: ended.id, limit: left)
            for id in dependents {
                try settle(of: id, on: ended.id, ended.outcome)
                // While it waits for others, one more that has completed changes nothing.
                if ended.outcome == .completed, try hasOpenTargets(id) { continue }
                guard let task = try StoreError.nilIfUnreadable({ try store.tasks.find(id) }) else {
                    try store.tasks.setAside([id])
                    continue
                }
                var machine = TaskStateMachine(task)
                try store.conditions.apply(to: &machine, inputs, at: now)
            }
            if dependents.count < left { try removeEndedTarget(ended.id) }
            left -= max(dependents.count, 1)
        }
    }
}
