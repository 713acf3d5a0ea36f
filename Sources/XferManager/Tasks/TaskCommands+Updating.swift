import XferCore
import XferCurl
public import XferModel
public import XferProtocol
import XferStore

/// Changing tasks.
extension TaskCommands {
    /// Changes an unfinished task. One refused field refuses all changes. A new rate limit takes effect at once.
    ///
    /// - Throws: `ManagerError`.
    public func update(_ id: TaskID, _ changes: TaskChanges, for principal: Principal) async throws
        -> TransferTask
    {
        let before = try await queries.task(id, for: principal)
        var wanted = before.specification
        changes.apply(to: &wanted)
        let isNamedAnew =
            changes.namesDirectory && before.state != .staged && wanted.kind == .download
            && !settings.isOperator(before.owner)
        let hasMoved = isNamedAnew || wanted.destination != before.specification.destination
        if wanted.request != before.specification.request {
            try await admission(for: principal).requests.check(
                wanted, path: TaskChanges.path, before: before.specification.request)
        }
        if wanted.kind != .download {
            let hasSegments = wanted.segments != before.specification.segments
            guard !hasMoved, !hasSegments else {
                throw ManagerError.invalidField(
                    path: TaskChanges.path + (hasMoved ? changes.directoryField : "segments"),
                    reason: "a \(wanted.kind.rawValue) task publishes no file", expected: "the field to be left out")
            }
        }
        if wanted.schedule.window != before.specification.schedule.window {
            try await admission(for: principal).checkWindow(wanted.schedule.window, path: TaskChanges.path)
        }
        if wanted.policy != before.specification.policy {
            try admission(for: principal).checkTrust(wanted, path: TaskChanges.path)
        }
        if hasMoved || wanted.priority != before.specification.priority {
            let admission = admission(for: principal)
            var directories: [String: FileIdentity] = [:]
            try await admission.admit(
                &wanted, knowing: &directories, path: TaskChanges.path, directoryField: changes.directoryField)
        }
        let identity = wanted.destination.directoryIdentity
        let (now, zones) = (clock(), zones)
        let (task, orphan, effect) = try await translatingStoreErrors {
            try await store.write { [coalesceKeys] tx in
                let schedule = try tx.task(id)?.specification.schedule
                let (task, orphan) = try tx.apply(
                    changes, to: id, directory: hasMoved ? identity : nil, coalesceKeys, for: principal, at: now)
                guard let schedule, schedule != task.specification.schedule else {
                    return (task, orphan, nil as Effect?)
                }
                var machine = TaskStateMachine(task)
                let effect = try tx.reschedule(
                    &machine, from: schedule, for: principal, path: TaskChanges.path, zones, at: now)
                return (machine.task, orphan, effect)
            }
        }
        if let effect { await scheduler.perform([effect]) }
        if let orphan { discarder.discard([orphan]) }
        await scheduler.onUpdate(task, from: before.specification)
        return task
    }
}
