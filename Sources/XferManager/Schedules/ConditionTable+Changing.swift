import XferCore
import XferModel
import XferStore

/// Checks a task's conditions when it is added and when they are changed.
extension ConditionTable where Store == StoreTransaction {
    /// Checks the conditions of a task that is about to be inserted.
    ///
    /// - Parameter joined: see `DependencyTable.requireJoin`.
    func requireChance(
        of schedule: TaskSchedule, for principal: Principal, path: String, _ inputs: ConditionInputs,
        joined: inout Int64, at now: Timestamp
    ) throws {
        try store.dependencies.requireTargets(schedule.after, for: principal, field: path + "after")
        if schedule.hasJoin {
            joined = try store.dependencies.requireJoin(
                of: schedule, owner: principal.owner, after: joined, for: principal, path: path)
        }
        try requireChance(of: schedule, path: path, inputs, at: now)
    }

    /// Makes a task that was just inserted wait or fail by its conditions.
    func begin(_ task: TransferTask, _ inputs: ConditionInputs, at now: Timestamp) throws {
        if task.specification.schedule.hasTargets { try store.dependencies.record(targetsOf: task) }
        var machine = TaskStateMachine(task)
        try apply(to: &machine, inputs, at: now)
    }

    /// Checks changed conditions, and changes the task's state accordingly. Returns an effect if its run has to stop.
    func reschedule(
        _ machine: inout TaskStateMachine, from earlier: TaskSchedule, for principal: Principal, path: String,
        _ inputs: ConditionInputs, at now: Timestamp
    ) throws -> Effect? {
        let schedule = machine.task.specification.schedule
        if !schedule.hasTargets(of: earlier) {
            guard machine.task.state != .staged else {
                throw ManagerError.invalidState(
                    machine.task.id, .staged,
                    reason: "\(path)after: its transfer has ended, and it only waits for a commit"
                )
            }
            try store.dependencies.change(targetsOf: machine.task, for: principal, path: path)
            let field =
                schedule.after != earlier.after
                ? "after" : schedule.afterGroup != earlier.afterGroup ? "after_group" : "after_batch"
            try store.dependencies.requireNoCircle(through: machine.task.id, field: path + field)
        }
        try requireChance(of: schedule, path: path, inputs, at: now)
        return try apply(to: &machine, inputs, at: now)
    }

    /// Refuses conditions under which the task would fail before it could start.
    private func requireChance(
        of schedule: TaskSchedule, path: String, _ inputs: ConditionInputs, at now: Timestamp
    ) throws {
        let conditions = inputs.conditions(of: schedule, at: now)
        guard let reason = conditions.contradiction(from: now) else { return }
        throw ManagerError.invalidField(
            path: path + "deadline", reason: reason, expected: "a time after the task's earliest start")
    }
}

extension AdmittedTask {
    /// Replaces negative references to tasks added earlier in the same call by their ids.
    func resolvingReferences(to added: [AddedTask]) throws -> AdmittedTask {
        guard specification.schedule.after.contains(where: { $0.rawValue < 0 }) else { return self }
        var specification = specification
        specification.schedule.after = try specification.schedule.after.enumerated().map { index, id in
            guard id.rawValue < 0 else { return id }
            let place = Int64(added.count).addingSaturated(id.rawValue)
            guard place >= 0 else {
                throw ManagerError.invalidField(
                    path: "\(path)after[\(index)]", reason: "fewer tasks precede it in this call",
                    expected: "a task's id, or −1 for the task before this one in the same call, −2 …")
            }
            return added[Int(clamping: place)].id
        }
        var resolved = self
        resolved.insertion = try insertion.changing(specification: specification)
        return resolved
    }
}
