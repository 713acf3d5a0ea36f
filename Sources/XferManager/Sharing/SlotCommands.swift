import XferCore
public import XferModel
import XferStore

/// Implements the RPC methods `slot.*`. A slot is a name that holds at most one unfinished task of an owner.
public struct SlotCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler

    /// The task in this slot of the caller; nil if the slot is empty.
    public func task(in slot: String, for principal: Principal) async throws -> TransferTask? {
        try await store.read { try $0.holder(ofSlot: slot, of: principal.owner) }
    }

    /// Removes the task from its slot and changes nothing else. Returns it; nil if the slot was empty.
    public func detach(from slot: String, for principal: Principal) async throws -> TransferTask? {
        try await translatingStoreErrors {
            try await store.write { tx in
                guard let task = try tx.holder(ofSlot: slot, of: principal.owner) else { return nil }
                var machine = TaskStateMachine(task)
                machine.respecify { $0.slot = nil }
                try tx.tasks.update(machine.task)
                return machine.task
            }
        }
    }

    /// Cancels the task in this slot. Returns it; nil if the slot was empty.
    public func cancel(in slot: String, for principal: Principal) async throws -> TransferTask? {
        let now = clock()
        let (task, effects) = try await translatingStoreErrors {
            try await store.write { tx -> (TransferTask?, [Effect]) in
                guard let holder = try tx.holder(ofSlot: slot, of: principal.owner) else { return (nil, []) }
                let (_, effects) = try tx.apply(.cancel, to: [holder.id], for: principal, at: now)
                return (try tx.tasks.find(holder.id), effects)
            }
        }
        await scheduler.perform(effects)
        return task
    }
}

extension StoreTransaction {
    /// Ends the other tasks in the slot that `task` has just joined. Returns the effects to perform after the commit.
    ///
    /// The new task joins before the others leave, so that a transfer they share always has a task.
    func supersede(by task: TransferTask, at now: Timestamp) throws -> [Effect] {
        guard let slot = task.specification.slot else { return [] }
        let found = Array(try tasks.list(inSlot: slot, of: task.owner))
        return try SlotRules.superseded(by: task.id, among: found).map { holder in
            let spoolFiles = try spoolFiles(after: .cancel, of: holder)
            try reservations.release(of: holder.id)
            let ended = try transition(holder, at: now) { $0.onSuperseded(by: task.id, at: now) }
            return Effect(
                task: holder.id, transfer: holder.transferID, action: ended.action, spoolFiles: spoolFiles)
        }
    }
}

extension StoreReader {
    fileprivate func holder(ofSlot slot: String, of owner: Owner) throws -> TransferTask? {
        try tasks.list(inSlot: slot, of: owner).last { SlotRules.isOccupied(in: $0.state) }
    }
}
