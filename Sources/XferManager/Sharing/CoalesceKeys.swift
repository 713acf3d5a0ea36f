import XferCore
import XferModel
import XferStore

/// Determines which tasks share a transfer, under the current settings.
struct CoalesceKeys: Sendable {
    let digest: KeyedDigest
    let isSharedBetweenOwners: Bool

    func key(of specification: TaskSpecification) -> [UInt8]? {
        SharingRules.key(of: specification, isSharedBetweenOwners: isSharedBetweenOwners, digest: digest)
    }

    /// Updates the key of a task whose request was changed. Returns true if the task left its transfer.
    ///
    /// The task leaves if its key has changed and another task uses the transfer, too. If no other task uses it, the
    /// task keeps the transfer, and the resume rules decide whether the bytes are continued.
    @discardableResult
    func renew(_ machine: inout TaskStateMachine, in tx: StoreTransaction, at now: Timestamp) throws -> Bool {
        let key = key(of: machine.task.specification)
        guard key != machine.task.coalesceKey else { return false }
        machine.coalesce(under: key)
        guard let transfer = machine.task.transferID, try tx.transfers.isUsed(transfer, but: machine.task.id) else {
            return false
        }
        machine.unsubscribe()
        try tx.discardBytes(
            of: &machine, because: "its request was changed, and other tasks still use the received bytes", at: now)
        return true
    }
}
