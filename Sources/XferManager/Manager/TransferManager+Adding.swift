import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
import XferStore

/// Adding tasks.
extension TransferManager {
    /// Tasks in one add at most.
    public static let largestAdd = 10_000

    /// What an add came to.
    public struct Added: Hashable, Sendable {
        public var id: TaskID
        /// Whether a `client_key` found the task of an earlier add.
        public var isExisting: Bool
    }

    /// Adds all drafts in one transaction, or none. When this returns, the tasks survive a power cut.
    ///
    /// - Parameter path: what stands before a field's name in errors, by the draft's index.
    /// - Throws: `ManagerError`.
    public func add(
        _ drafts: [TaskDraft], for principal: Principal, path: @escaping @Sendable (Int) -> String = { _ in "" }
    ) async throws -> [Added] {
        try await commit(drafts, for: principal, path: path) { admitted, tx, now in
            try admitted.map { try Self.add($0, in: tx, at: now) }
        }
    }

    /// Adds one, and answers the task as it was committed.
    public func add(
        _ draft: TaskDraft, for principal: Principal
    ) async throws -> (task: TransferTask, isExisting: Bool) {
        let added = try await commit([draft], for: principal, path: { _ in "" }) { admitted, tx, now in
            try admitted.map { task in
                let added = try Self.add(task, in: tx, at: now)
                guard let task = try tx.task(added.id) else { throw ManagerError.notFound(added.id) }
                return (task: task, isExisting: added.isExisting)
            }
        }
        return added[0]
    }

    private func commit<Answer: Sendable>(
        _ drafts: [TaskDraft], for principal: Principal, path: @escaping @Sendable (Int) -> String,
        _ body: @escaping @Sendable ([AdmittedTask], StoreTransaction, Timestamp) throws -> [Answer]
    ) async throws -> [Answer] {
        guard !scheduler.holds.contains(.shuttingDown) else { throw ManagerError.shuttingDown }
        guard drafts.count <= Self.largestAdd else {
            throw ManagerError.limitExceeded(reason: "tasks in one add", limit: Self.largestAdd)
        }
        let admission = admission(for: principal)
        let spooling = try await spool(try await admission.admit(drafts, path: path), path: path)
        let admitted = spooling.tasks
        let now = clock()
        let added: [Answer]
        do {
            added = try await translatingStoreErrors {
                try await store.write { tx in
                    try Self.requireRoom(for: admitted.count, of: principal, in: tx)
                    return try body(admitted, tx, now)
                }
            }
        } catch {
            removeSpoolFiles(spooling.files.map(\.name))
            throw error
        }
        await removeUnwanted(spooling.files)
        schedule()
        return added
    }

    private static func add(
        _ admitted: AdmittedTask, in tx: StoreTransaction, at now: Timestamp
    ) throws -> Added {
        let specification = admitted.specification
        if specification.clientKey != nil,
            let earlier = try tx.earlierAdd(of: specification, body: admitted.body, asked: admitted.asked)
        {
            guard earlier.askedForTheSame else { throw ManagerError.keyReused(existing: earlier.id) }
            return Added(id: earlier.id, isExisting: true)
        }
        try requirePolicy(of: specification, in: tx)
        let task = try tx.insertTask(
            specification, body: admitted.body, asked: admitted.asked,
            state: specification.startsPaused ? .paused : .queued, at: now)
        try tx.insertSpooledSources(admitted.body?.sources.compactMap(\.spoolName) ?? [], of: task.id)
        try tx.append(
            .taskAdded(
                url: specification.request.url.description, label: specification.label, group: specification.group),
            taskID: task.id, owner: task.owner, at: now)
        return Added(id: task.id, isExisting: false)
    }

    func admission(for principal: Principal) -> TaskAdmission {
        TaskAdmission(
            principal: principal, settings: settings, pool: services.pool, directories: directories,
            policies: services.policies.withLockedValue(\.resolver),
            requests: RequestAdmission(
                rules: services.admission.withLockedValue(\.self), isOperator: principal.isOperator, store: store),
            content: ContentAdmission(principal: principal, settings: settings, pool: services.pool), now: clock())
    }

    /// A policy that was there a moment ago may have been removed meanwhile.
    static func requirePolicy(of specification: TaskSpecification, in tx: StoreTransaction) throws {
        guard let name = specification.policy, try tx.policy(named: name) == nil else { return }
        throw ManagerError(PolicyResolutionError.policyMissing(name), path: "")
    }

    private static func requireRoom(for count: Int, of principal: Principal, in tx: StoreTransaction) throws {
        guard let maxTasks = principal.maxTasks else { return }
        let counts = try tx.counts(owner: principal.owner)
        let unfinished = counts.reduce(0) { $1.key.isTerminal ? $0 : $0 + $1.value }
        guard unfinished + Int64(count) <= Int64(maxTasks) else {
            throw ManagerError.limitExceeded(reason: "unfinished tasks of this user", limit: maxTasks)
        }
    }
}

extension TransferManager {
    /// What the store cannot do now is `storageUnavailable` to a caller.
    nonisolated func translatingStoreErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch StoreError.degraded, StoreError.closed {
            throw ManagerError.storageUnavailable
        }
    }
}
