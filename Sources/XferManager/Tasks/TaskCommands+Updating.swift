import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
public import XferProtocol
import XferStore

/// Changes of single tasks.
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
            if wanted.request.authoritiesFile != before.specification.request.authoritiesFile {
                try await admission(for: principal).checkAuthorities(of: wanted, path: TaskChanges.path)
            }
        }
        if wanted.kind != .download, let field = changes.fieldOfDownloads {
            throw ManagerError.invalidField(
                path: TaskChanges.path + field, reason: "a \(wanted.kind.rawValue) task publishes no file",
                expected: "the field to be left out")
        }
        if wanted.schedule.window != before.specification.schedule.window {
            try await admission(for: principal).checkWindow(wanted.schedule.window, path: TaskChanges.path)
        }
        if wanted.schedule.lease != before.specification.schedule.lease, !principal.isOperator {
            throw ManagerError.permissionDenied(
                path: TaskChanges.path + "lease", reason: "only operators may change a task's lease")
        }
        if wanted.policy != before.specification.policy {
            try admission(for: principal).checkTrust(wanted, path: TaskChanges.path)
        }
        if wanted.priority != before.specification.priority {
            try admission(for: principal).check(wanted.priority, path: TaskChanges.path)
        }
        let confines = principal.isConfined && wanted.decidesContentOtherwise(than: before.specification)
        if hasMoved || confines {
            // A caller that is not confined and names the place answers for it.
            if !principal.isConfined, wanted.destination.isElsewhere(than: before.specification.destination) {
                wanted.destination.confinement = nil
            }
            var directories = TaskAdmission.KnownDirectories()
            try await admission(for: principal).admitDestination(
                of: &wanted, knowing: &directories, path: TaskChanges.path, directoryField: changes.directoryField)
        }
        if hasMoved {
            guard context.moving.withLockedValue({ $0.insert(id).inserted }) else {
                throw ManagerError.invalidState(
                    id, before.state, reason: "another call is changing its directory")
            }
        }
        defer { if hasMoved { context.moving.withLockedValue { _ = $0.remove(id) } } }
        let (identity, confinement) = (wanted.destination.directoryIdentity, wanted.destination.confinement)
        let move = hasMoved ? try await move(of: before, to: wanted.destination) : nil
        let restricts = settings.restricts(principal, taskOf: before.owner)
        let (now, inputs, maxStored) = (clock(), conditionInputs, settings.maxStoredPerUser)
        let (updated, effect): (UpdatedTask, Effect?)
        do {
            (updated, effect) = try await translatingStoreErrors {
                try await store.write { [coalesceKeys, incomplete = context.services.incomplete] tx in
                    let schedule = try tx.tasks.find(id)?.specification.schedule
                    let stored = try tx.storedBytes.total(of: principal.owner)
                    var updated = try tx.apply(
                        changes, to: id, directory: hasMoved ? identity : nil, move, incomplete,
                        confinement: hasMoved || confines ? .some(confinement) : nil, coalesceKeys, for: principal,
                        restricts: restricts, at: now)
                    // A user beyond the limit can still change what takes no more.
                    if try tx.storedBytes.total(of: principal.owner) > stored {
                        try tx.requireStorage(of: principal, maxStored: maxStored)
                    }
                    guard let schedule, schedule != updated.task.specification.schedule else { return (updated, nil) }
                    var machine = TaskStateMachine(updated.task)
                    let effect = try tx.conditions.reschedule(
                        &machine, from: schedule, for: principal, path: TaskChanges.path, inputs, at: now)
                    updated.task = machine.task
                    return (updated, effect)
                }
            }
        } catch {
            await move?.end(isCommitted: false, context)
            throw error
        }
        await move?.end(isCommitted: updated.hasMoved, context)
        if let effect { await scheduler.perform([effect]) }
        if let orphan = updated.orphan { discarder.discard([orphan]) }
        await scheduler.onUpdate(updated.task, from: before.specification)
        return updated.task
    }

    private func move(of task: TransferTask, to wanted: Destination) async throws -> KeptBytesMove? {
        // A paused task's run may still be about to record what it leaves.
        if task.state != .running { await scheduler.runEnded(task.id) }
        do {
            return try await KeptBytesMove(of: task, to: wanted, context)
        } catch let error as FileError {
            throw ManagerError.invalidState(
                task.id, task.state, reason: "its kept bytes cannot be copied into the new directory: \(error)")
        }
    }
}

extension TaskSpecification {
    /// True if a change decides the file's content: a caller who chooses the bytes must be allowed to write there.
    func decidesContentOtherwise(than other: TaskSpecification) -> Bool {
        guard kind == .download else { return false }
        var (own, others) = (request, other.request)
        (own.allowsMetered, others.allowsMetered) = (true, true)
        return own != others || mirrors != other.mirrors || checksum != other.checksum || policy != other.policy
    }
}

extension Destination {
    /// True if it names another place for the file.
    fileprivate func isElsewhere(than other: Destination) -> Bool {
        directory != other.directory || name != other.name
    }
}
