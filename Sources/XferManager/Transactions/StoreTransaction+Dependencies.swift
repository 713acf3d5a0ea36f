import XferCore
import XferModel
import XferStore

/// `after`: tasks that start when others have completed.
extension StoreTransaction {
    /// The highest number of tasks checked for a cycle. A longer chain cannot be changed.
    private static var longestChain: Int { 100_000 }

    /// Throws unless the tasks in `after` exist and the caller may see them.
    ///
    /// - Parameter field: the field's name in errors, such as `tasks[3].after`.
    func requireTargets(
        _ targets: [TaskID], for principal: Principal, field: String
    ) throws {
        guard !targets.isEmpty else { return }
        let found = try existing(targets, of: principal.visibleOwner)
        for (index, target) in targets.enumerated() where !found.contains(target) {
            throw ManagerError.dependencyNotFound(target, path: "\(field)[\(index)]")
        }
    }

    /// Records which tasks a changed task waits for.
    ///
    /// - Parameter field: the field's name in errors, such as `after`.
    func setDependencies(
        of task: TransferTask, for principal: Principal, field: String
    ) throws {
        let targets = task.specification.schedule.after
        for (index, target) in targets.enumerated() {
            guard target != task.id else {
                throw ManagerError.invalidField(
                    path: "\(field)[\(index)]", reason: "task \(target) cannot wait for itself",
                    expected: "ids of other tasks")
            }
        }
        try requireTargets(targets, for: principal, field: field)
        try setDependencies(of: task.id, on: targets)
    }

    /// Refuses changed dependencies that would make tasks wait for each other. A new task cannot cause that, because no
    /// task waits for it yet.
    func requireNoCircle(through task: TaskID, field: String) throws {
        guard let circle = try circle(through: task) else { return }
        let named = circle.map(\.description).joined(separator: " → ")
        throw ManagerError.invalidField(
            path: field, reason: "tasks would wait for each other: \(named)", expected: "no circle")
    }

    /// The tasks on the way from `start` back to it along the dependencies; nil if there is no such way.
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
        var left = Self.largestStep
        while left > 0, let ended = try nextEndedTarget() {
            // The task was retried before all dependents were notified: the rest continues to wait for it.
            let target = try StoreError.nilIfUnreadable { try task(ended.id) }
            if let target, !target.state.isTerminal {
                try removeEndedTarget(ended.id)
                left -= 1
                continue
            }
            let dependents = try openDependents(of: ended.id, limit: left)
            for id in dependents {
                try settleDependency(of: id, on: ended.id, ended.outcome)
                // While it waits for others, one more that has completed changes nothing.
                if ended.outcome == .completed, try hasOpenTargets(id) { continue }
                guard let task = try StoreError.nilIfUnreadable({ try task(id) }) else {
                    try setAside([id])
                    continue
                }
                var machine = TaskStateMachine(task)
                try applyConditions(to: &machine, inputs, at: now)
            }
            if dependents.count < left { try removeEndedTarget(ended.id) }
            left -= max(dependents.count, 1)
        }
    }
}
