import XferCore
import XferModel
import XferProtocol
import XferStore

extension TaskChanges {
    /// The prefix of field names in errors.
    static let path = "changes."
}

/// A task after a change.
struct UpdatedTask: Sendable {
    var task: TransferTask
    /// The transfer that it left.
    var orphan: TransferID?
    /// True if its kept bytes are in the new directory.
    var hasMoved = false
}

/// Changes tasks.
extension StoreTransaction {
    /// Throws if a changed field concerns the fetching or the directory of a staged task: its file is already complete.
    private static func refuse(_ wanted: TaskSpecification, insteadOf task: TransferTask) throws {
        let had = task.specification
        guard
            wanted.request == had.request, wanted.checksum == had.checksum, wanted.policy == had.policy,
            wanted.destination.directory == had.destination.directory, wanted.segments == had.segments
        else {
            let path = TaskChanges.path
            throw ManagerError.invalidState(
                task.id, task.state,
                reason:
                    "\(path)output within its directory and \(path)on_conflict can change, and fields that do not affect "
                    + "fetching it")
        }
    }

    /// Applies the changes. A failed task can be changed before it is retried; a completed or cancelled one cannot.
    ///
    /// A task leaves its transfer if it no longer needs the bytes that it shares, or if its directory changes and
    /// `move` does not move the bytes.
    ///
    /// - Parameters:
    ///   - confinement: the directory to which the task is confined from now on; nil leaves it unchanged.
    ///   - restricts: true if the caller lacks the rights of the operator that owns the task; see
    ///     `TaskSpecification.isRestricted`.
    func apply(
        _ changes: TaskChanges, to id: TaskID, directory: FileIdentity?, _ move: KeptBytesMove?,
        _ incomplete: IncompleteDirectories, confinement: Confinement??, _ coalesceKeys: CoalesceKeys,
        for principal: Principal, restricts: Bool,
        at now: Timestamp
    ) throws -> UpdatedTask {
        guard let task = try visibleTask(id, to: principal) else { throw ManagerError.notFound(id) }
        guard !task.state.isTerminal || task.state == .failed else {
            throw ManagerError.invalidState(id, task.state, reason: "a finished task cannot be changed")
        }
        if task.state == .running, let field = changes.fieldRefusedWhileRunning {
            throw ManagerError.invalidState(
                id, task.state, reason: "\(TaskChanges.path)\(field) cannot change while the task runs: pause it first")
        }
        var machine = TaskStateMachine(task)
        machine.respecify {
            changes.apply(to: &$0)
            let had = task.specification
            if restricts, $0.request != had.request || $0.destination != had.destination { $0.isRestricted = true }
            if let confinement { $0.destination.confinement = confinement }
        }
        try requireConfinedName(of: machine.task)
        if task.state == .staged { try Self.refuse(machine.task.specification, insteadOf: task) }
        if machine.task.specification.request.allowsMetered, !task.specification.request.allowsMetered,
            task.wait?.reason == .network
        {
            _ = machine.onWaitOver(at: now)
        }
        let (place, formerPlace) = (machine.task.specification.destination, task.specification.destination)
        let isOnAnotherDisk = changes.namesDirectory && directory.map { $0 != formerPlace.directoryIdentity } == true
        if place.directory != formerPlace.directory || isOnAnotherDisk { _ = machine.onNewDirectory() }
        if machine.task.specification.policy != task.specification.policy {
            try requirePolicy(of: machine.task.specification)
        }
        let hasLeftOthers = try coalesceKeys.renew(&machine, in: self, at: now)
        guard let directory, !hasLeftOthers else {
            if let directory { machine.respecify { $0.destination.directoryIdentity = directory } }
            try tasks.update(machine.task)
            return UpdatedTask(task: machine.task, orphan: hasLeftOthers ? task.transferID : nil)
        }
        machine.respecify { $0.destination.directoryIdentity = directory }
        let (wanted, had) = (machine.task.specification.destination, task.specification.destination)
        let isAnother = changes.namesDirectory && wanted.directoryIdentity != had.directoryIdentity
        let hasLeft = wanted.directory != had.directory || isAnother
        guard hasLeft, let transfer = task.transferID else {
            try tasks.update(machine.task)
            return UpdatedTask(task: machine.task)
        }
        if let kept = try self.transfers.find(transfer), incomplete.isPlace(of: kept, for: task.specification) {
            // They are moved when they are whole.
            try tasks.update(machine.task)
            return UpdatedTask(task: machine.task)
        }
        if task.state != .running, let move, try move.commit(of: task, in: self) {
            try tasks.update(machine.task)
            return UpdatedTask(task: machine.task, hasMoved: true)
        }
        let isShared = try transfers.isUsed(transfer, but: task.id)
        let reason =
            isShared
            ? "its directory was changed, and the received bytes stay with other tasks of the same URL"
            : "its directory was changed, and the received bytes could not be moved there"
        machine.unsubscribe()
        try discardBytes(of: &machine, because: reason, at: now)
        try tasks.update(machine.task)
        return UpdatedTask(task: machine.task, orphan: transfer)
    }
}

extension StoreTransaction {
    /// Throws if the file of a confined task has a hidden name. Another call may have set it since this one was
    /// admitted; a directory is checked again whenever it is opened.
    func requireConfinedName(of task: TransferTask) throws {
        let destination = task.specification.destination
        guard destination.confinement != nil, let name = destination.name, HiddenComponents.isHidden(name) else {
            return
        }
        throw ManagerError.invalidState(
            task.id, task.state, reason: "another call has given its file the hidden name \(name)")
    }
}
