import XferCore
import XferModel
import XferStore

/// With whom tasks share, under the settings of the moment.
struct CoalesceKeys: Sendable {
    let digest: KeyedDigest
    let isSharedBetweenOwners: Bool

    func key(of specification: TaskSpecification) -> [UInt8]? {
        SharingRules.key(of: specification, isSharedBetweenOwners: isSharedBetweenOwners, digest: digest)
    }

    /// What the task asks for was changed. When it is about other bytes now than those it shared, it leaves them to the
    /// others; bytes that are its own alone stay and are continued under the resume rules. Answers whether it left.
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

extension TransferManager {
    var coalesceKeys: CoalesceKeys {
        CoalesceKeys(digest: digest, isSharedBetweenOwners: settings.sharesBetweenOwners)
    }
}
