import XferCore
import XferFiles
import XferModel
import XferStore

extension StoreTransaction {
    /// Completes a staged task whose file has its name, or needs none. Returns whether its transfer's bytes are to be
    /// deleted.
    func complete(
        _ task: TransferTask, size: Int64, path: String, isSkipped: Bool, _ failedURLs: FailedURLList,
        at now: Timestamp
    ) throws -> Bool {
        guard let transfer = task.transferID else { return false }
        var machine = TaskStateMachine(task)
        machine.setOutcome { outcome in
            outcome.finalPath = path
            outcome.skipped = isSkipped
        }
        let transition = machine.onCommit(size: size, at: now)
        let leavesBytes = try isSkipped || recordPublished(task, from: transfer, size: size)
        try releaseReservations(of: task.id)
        machine.unsubscribe()
        try write(machine, transition, at: now)
        try failedURLs.record(machine.task, in: self, at: now)
        if !leavesBytes { try deleteTransfer(transfer) }
        return leavesBytes
    }
}

extension RunServices {
    /// Throws unless the policies in force trust the servers that sent the bytes.
    func requireTrusted(_ task: TransferTask, _ transfer: Transfer, authoritiesFile: String?) async throws {
        let trust = RunTrust(
            policies: policies, admission: admission, taskPolicy: task.specification.policy,
            authoritiesFile: authoritiesFile, kept: transfer.sources, clock: clock)
        let urls = [task.specification.request.url] + (transfer.resumeData.finalURL.map { [$0] } ?? [])
        let refusal = try await pool.run { () throws(TransferError) in try trust.refusalOfKept(from: urls) }
        if let refusal { throw TransferError(.rejectedByPolicy, "\(refusal)") }
    }
}

extension ManagerError {
    /// Why a staged task could not be published.
    init(notCommitted id: TaskID, _ error: any Error) {
        switch error {
        case let error as ManagerError: self = error
        case let error as TransferError: self = .notCommitted(id, error.reason, error.message)
        case let error as FileError:
            self = .notCommitted(id, error.transferError.reason, error.description)
        case StoreError.degraded(let reason): self = .storageUnavailable(reason: reason)
        case let error as StoreError: self = .storageUnavailable(reason: error.description)
        default: self = .notCommitted(id, .internalError, "\(error)")
        }
    }
}
