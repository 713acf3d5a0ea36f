import StrictJSON
import XferCore
import XferFiles
public import XferModel
public import XferProtocol
import XferStore

/// `batch.*`: many tasks in one transaction, as a group with its own concurrency, counted together. Class of origin:
/// SDWebImagePrefetcher.
public struct BatchCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler
    let tasks: TaskCommands

    /// Options for adding a batch.
    public struct Options: Sendable {
        /// The batch's own concurrency limit, at least 1.
        public var maxActive: Int
        /// True if one refused entry refuses the whole batch.
        public var isAtomic: Bool
        /// Makes the add safe to repeat. Unique among its owner's batches as long as the batch exists.
        public var clientKey: String?
        /// The whole request as text. It distinguishes a repeated add from another one with the same key.
        public var requestText: String

        public init(maxActive: Int, isAtomic: Bool = false, clientKey: String? = nil, requestText: String = "") {
            self.maxActive = maxActive
            self.isAtomic = isAtomic
            self.clientKey = clientKey
            self.requestText = requestText
        }
    }

    /// The entries of a call that could be read.
    public struct Entries: Sendable {
        public var tasks: [NewTask]
        /// The index of each task's entry in the call.
        public var places: [Int]
        /// The entries that could not be read.
        public var refusals: [BatchRefusal]

        public init(tasks: [NewTask] = [], places: [Int] = [], refusals: [BatchRefusal] = []) {
            self.tasks = tasks
            self.places = places
            self.refusals = refusals
        }
    }

    /// The result of adding a batch.
    public struct Added: Sendable {
        public var batch: Batch
        /// Its members in the order of their entries; for an existing batch, the ones that still exist.
        public var ids: [TaskID]
        /// The entries that did not become members, now or at the first add.
        public var refusals: [BatchRefusal]
        /// True if its `client_key` belongs to the batch of an earlier add.
        public var isExisting = false
    }

    /// The number of the last event that subscriptions have got.
    public var lastSeq: Int64 { context.hub.lastSeq }

    /// Adds a batch in one transaction. When this returns, it survives a power failure.
    ///
    /// - Parameter defaults: the values for fields that a task does not set.
    /// - Throws: `ManagerError`; for an entry only if the batch is atomic.
    public func add(
        _ entries: Entries, _ options: Options, _ defaults: TaskDefaults, for principal: Principal
    ) async throws -> Added {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        guard entries.tasks.count <= TaskCommands.largestAdd else {
            throw ManagerError.limitExceeded(reason: "tasks in one add", limit: TaskCommands.largestAdd)
        }
        try await tasks.requireStateRoom(for: principal)
        let owner = principal.owner
        if let existing = try await store.read({ try $0.existingBatch(options, of: owner) }) { return existing }
        let room = SpoolRoom(of: principal, maxStored: settings.maxStoredPerUser, services)
        defer { withExtendedLifetime(room) {} }
        let (admitted, refused) = try await admit(entries, options, defaults, for: principal, in: room)
        let rules = tasks.addRules(for: principal)
        let added: (answer: Added, effects: [Effect])
        do {
            added = try await translatingStoreErrors {
                try await store.write(.rows(admitted.count)) { tx in
                    if let existing = try tx.existingBatch(options, of: owner) { return (existing, []) }
                    var aftermath = AddAftermath()
                    let answer = try tx.insert(
                        admitted, entries.refusals + refused, options, rules, followedBy: &aftermath)
                    if aftermath.hasEnded { try tx.appendIdleIfNothingRuns(at: rules.now) }
                    try tx.requireRoom(of: principal, maxStored: rules.maxStored)
                    return (answer, aftermath.effects)
                }
            }
        } catch {
            services.removeSpoolFiles(admitted.flatMap(\.files).map(\.name))
            throw error
        }
        await services.removeUnwanted(admitted.flatMap(\.files))
        if !added.effects.isEmpty { await scheduler.perform(added.effects) }
        await scheduler.schedule()
        return added.answer
    }

    /// A batch, if it exists and the caller may see it.
    public func get(_ id: BatchID, for principal: Principal) async throws -> Batch {
        guard let batch = try await store.readStates({ try $0.batches.find(id) }),
            principal.isOperator || batch.owner == principal.owner
        else { throw ManagerError.batchNotFound(id) }
        return batch
    }

    /// Lists the batches that were added before `before`, the newest first. An operator sees the batches of all owners.
    public func list(before: BatchID?, limit: Int, for principal: Principal) async throws -> [Batch] {
        return try await store.readStates {
            try $0.batches.list(owner: principal.visibleOwner, before: before, limit: limit)
        }
    }

    // MARK: Steps

    private func admit(
        _ entries: Entries, _ options: Options, _ defaults: TaskDefaults, for principal: Principal, in room: SpoolRoom
    ) async throws -> (admitted: [AdmittedEntry], refusals: [BatchRefusal]) {
        let places = entries.places
        let judged = try await admission(for: principal).admitEach(
            entries.tasks, requestText: [], defaults, path: { "tasks[\(places[$0])]." })
        try TaskCommands.requireFewDependencies(of: judged.compactMap { try? $0.get() })
        var admitted: [AdmittedEntry] = []
        var refusals: [BatchRefusal] = []
        var destinations = CallDestinations()
        do {
            for (place, verdict) in zip(places, judged) {
                do {
                    try destinations.insert(try verdict.get())
                    let (tasks, files) = try await services.spoolSources(
                        of: [try verdict.get()], in: room, path: { _ in "tasks[\(place)]." })
                    admitted += tasks.map { AdmittedEntry(place: place, task: $0, files: files) }
                } catch let error as ManagerError where !options.isAtomic {
                    refusals.append(BatchRefusal(index: place, error.failure))
                }
            }
        } catch {
            services.removeSpoolFiles(admitted.flatMap(\.files).map(\.name))
            throw error
        }
        return (admitted, refusals)
    }
}

/// An accepted entry, with the copies that were made for it.
private struct AdmittedEntry: Sendable {
    /// The index of the entry in the call.
    var place: Int
    var task: AdmittedTask
    var files: [SpoolFile]
}

extension StoreTransaction {
    fileprivate func insert(
        _ admitted: [AdmittedEntry], _ refused: [BatchRefusal], _ options: BatchCommands.Options,
        _ rules: AddRules, followedBy aftermath: inout AddAftermath
    ) throws -> BatchCommands.Added {
        let (id, group) = try batches.insert(
            owner: rules.principal.owner, maxActive: options.maxActive, clientKey: options.clientKey,
            requestText: options.requestText, at: rules.now)
        var refusals = refused
        var ids: [TaskID] = []
        var tasks = admitted.map(\.task)
        for index in tasks.indices { tasks[index].insertion = try tasks[index].insertion.moved(toGroup: group) }
        for run in tasks.runs {
            do {
                ids += try add(tasks[run], to: id, rules, followedBy: &aftermath).map(\.id)
            } catch let error as ManagerError where !options.isAtomic {
                // The error was thrown before any row of the task was written, for example because a policy was just
                // removed. Only a run of a single task can be refused here.
                refusals.append(BatchRefusal(index: admitted[run.lowerBound].place, error.failure))
            }
        }
        refusals.sort { $0.index < $1.index }
        try batches.seal(id, total: ids.count, refused: refusals.isEmpty ? nil : refusals.wire.text)
        guard let batch = try batches.find(id) else { throw ManagerError.batchNotFound(id) }
        return BatchCommands.Added(batch: batch, ids: ids, refusals: refusals)
    }
}

extension StoreReader {
    /// The batch that an earlier add with this key created.
    fileprivate func existingBatch(
        _ options: BatchCommands.Options, of owner: Owner
    ) throws -> BatchCommands.Added? {
        guard let key = options.clientKey,
            let earlier = try batches.earlier(owner: owner, clientKey: key, requestText: options.requestText)
        else { return nil }
        guard earlier.isSameRequest else { throw ManagerError.batchKeyReused(existing: earlier.id) }
        guard let batch = try batches.find(earlier.id) else { return nil }
        return BatchCommands.Added(
            batch: batch, ids: try batches.members(of: earlier.id, limit: TaskCommands.largestAdd),
            refusals: try earlier.refused.map { try [BatchRefusal](lenient: JSONValue(parsing: $0.utf8)) } ?? [],
            isExisting: true)
    }
}
