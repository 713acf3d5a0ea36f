import StrictJSON
import XferCore
public import XferModel
public import XferProtocol
import XferStore

/// `operation.*`: verbs over filters that continue in the background, also after a crash.
public struct OperationCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let runner: OperationRunner

    /// Begins an operation over the tasks that exist now. When this returns, it survives a power failure.
    ///
    /// - Parameter changes: for `update`.
    /// - Throws: `ManagerError`: `limitExceeded` if too many operations of the caller have not ended.
    public func begin(
        _ verb: OperationVerb, deletesFiles: Bool = false, changes: TaskChanges? = nil, _ filter: TaskFilter,
        for principal: Principal
    ) async throws -> BulkOperation {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        let (text, now, changed) = (filter.wire.text, clock(), changes?.wire.text)
        let rights = changes == nil ? nil : principal.operationRights
        let operation = try await translatingStoreErrors {
            try await store.write { tx in
                let running = try tx.operations.runningCount(of: principal.owner)
                guard running < OperationRules.mostRunning else {
                    throw ManagerError.limitExceeded(
                        reason: "operations of one user that have not ended", limit: OperationRules.mostRunning)
                }
                return try tx.operations.insert(
                    BulkOperation(
                        owner: principal.owner, isOperator: principal.isOperator, verb: verb,
                        deletesFiles: deletesFiles, filter: text, changes: changed, rights: rights,
                        last: try tx.tasks.lastID() ?? TaskID(0),
                        createdAt: now))
            }
        }
        await runner.start(principal.owner)
        return operation
    }

    /// The operation, if the caller may see it.
    public func get(_ id: OperationID, for principal: Principal) async throws -> BulkOperation {
        guard let operation = try await store.read({ try $0.operations.find(id) }), operation.isVisible(to: principal)
        else {
            throw ManagerError.operationNotFound(id)
        }
        return operation
    }

    /// Returns one page of the operations that the caller may see, the newest first.
    public func list(
        limit: Int, cursor: String?, for principal: Principal
    ) async throws -> (operations: [BulkOperation], cursors: [String], nextCursor: String?) {
        do {
            return try await store.read {
                try $0.operations.list(of: principal.visibleOwner, limit: limit, cursor: cursor)
            }
        } catch StoreError.invalidCursor {
            throw ManagerError.invalidField(
                path: "cursor", reason: "it does not belong to this list",
                expected: "the next_cursor of an answer to the same caller")
        }
    }

    /// Stops an operation after the step that is under way. One that has ended is returned unchanged.
    public func cancel(_ id: OperationID, for principal: Principal) async throws -> BulkOperation {
        let operation = try await translatingStoreErrors {
            try await store.write { tx in
                guard var operation = try tx.operations.find(id), operation.isVisible(to: principal) else {
                    throw ManagerError.operationNotFound(id)
                }
                guard operation.endedAt == nil, operation.state == .running else { return operation }
                operation.state = .cancelled
                try tx.operations.update(operation)
                return operation
            }
        }
        // One that waits for an earlier one ends when its turn comes.
        await runner.start(operation.owner)
        return operation
    }
}

extension BulkOperation {
    fileprivate func isVisible(to principal: Principal) -> Bool { principal.isOperator || owner == principal.owner }
}
