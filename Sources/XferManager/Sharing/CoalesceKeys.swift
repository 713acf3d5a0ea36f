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

    /// Updates the key of a task whose request was changed. If the task then needs other bytes than those it shares, it
    /// leaves the transfer. Bytes that only it holds stay and are continued under the resume rules. Returns whether it
    /// left.
    @discardableResult
    func renew(_ machine: inout TaskStateMachine, in tx: StoreTransaction) throws -> Bool {
        let key = key(of: machine.task.specification)
        guard key != machine.task.coalesceKey else { return false }
        machine.coalesce(under: key)
        guard let transfer = machine.task.transferID, try tx.isHeld(transfer, but: machine.task.id) else {
            return false
        }
        machine.unsubscribe()
        machine.onBytesLost()
        return true
    }
}
