import GRDB
import XferModel
import XferSystem

/// Commits change-sets in groups on GRDB's writer queue: one transaction, one sync of the log, for all that arrived
/// during the previous one.
///
/// A change-set that fails is undone alone: then its group is rolled back and executed again with a savepoint for each.
/// If the transaction itself fails, as a full disk makes it, its change-sets are tried one by one; if the medium still
/// refuses, the store is degraded until a probe commit succeeds.
///
/// `@unchecked Sendable`: `transaction` is only touched on the writer's queue.
final class GroupCommit: @unchecked Sendable {
    private struct State {
        var queue = CommitQueue<any ChangeSet>()
        var degradation: String?
        var isClosed = false
        var webhooks: WebhookSubscriptions?
        var deliveryLimits = DeliveryLimits()
        var statistics = StoreStatistics()
    }

    private let pool: DatabasePool
    private let configuration: StoreConfiguration
    private let log: WALCheckpointer
    let place: DatabasePlace
    /// Tasks that only their brief runs may change.
    let uncommittedStarts = UncommittedStarts()
    private let state = Locked(State())
    private var transaction: StoreTransaction?
    /// The thread, set once in `init`.
    private var thread: StoreThread?

    /// - Throws: `StoreError.cannotOpen` when the system cannot create a thread.
    init(pool: DatabasePool, configuration: StoreConfiguration) throws(StoreError) {
        self.pool = pool
        self.configuration = configuration
        do {
            log = try pool.writeWithoutTransaction { try WALCheckpointer(configuration, writer: $0) }
        } catch {
            throw StoreError(from: error)
        }
        place = try DatabasePlace(configuration.path)
        thread = try StoreThread("xferd-commit", path: configuration.path) { [weak self] in self?.commitAll() }
        uncommittedStarts.setSubmit { [weak self] in self?.submit($0) }
    }

    deinit { thread?.end() }

    /// Sets the webhooks and the bounds of their deliveries from the next transaction on.
    func follow(_ webhooks: WebhookSubscriptions?, within limits: DeliveryLimits) {
        state.withLock { ($0.webhooks, $0.deliveryLimits) = (webhooks, limits) }
    }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }
    /// The statistics without the files' lengths.
    var statistics: StoreStatistics {
        var statistics = state.withLock { $0.statistics }
        statistics.checkpointAge = log.age
        return statistics
    }

    func submit(_ changes: [any ChangeSet]) {
        let (actions, refusal) = state.withLock { state -> ([CommitQueue<any ChangeSet>.Action], StoreError?) in
            if state.isClosed { return ([], .closed) }
            if let reason = state.degradation { return ([], .degraded(reason: reason)) }
            return (changes.map { state.queue.onChange($0, $0.urgency) }, nil)
        }
        if let refusal {
            for change in changes {
                uncommittedStarts.onEnd(of: change)
                change.fail(refusal)
            }
        }
        for action in actions { perform(action) }
    }

    /// Refuses new changes and commits the waiting ones; blocks until that is done.
    ///
    /// - Returns: true if the log may be emptied; see `WALCheckpointer.close`.
    func close() -> Bool {
        perform(
            state.withLock { state in
                state.isClosed = true
                return state.queue.onGatheringTimeOver()
            })
        thread?.finish()
        for change in uncommittedStarts.removeWaiting() { change.fail(StoreError.closed) }
        return pool.writeWithoutTransaction { writer in
            // Changes that were submitted before the close, but whose wake-up came after the thread had ended.
            commitAll(writer)
            transaction?.end()
            transaction = nil
            return log.close(writer)
        }
    }

    /// Commits all gathered changes. Called on the commit thread.
    private func commitAll() { pool.writeWithoutTransaction { commitAll($0) } }

    private func perform(_ action: CommitQueue<any ChangeSet>.Action) {
        switch action {
        case .nothing: break
        case .startCommitting: thread?.request()
        case .startTimer:
            Task {
                try? await Task.sleep(for: configuration.gatheringTime)
                perform(state.withLock { $0.queue.onGatheringTimeOver() })
            }
        }
    }

    /// The transaction that all groups use, made for the first of them.
    private func openTransaction(_ database: Database) -> StoreTransaction {
        let transaction =
            self.transaction
            ?? StoreTransaction(Connection(database), texts: configuration.texts, uncommittedStarts: uncommittedStarts)
        self.transaction = transaction
        return transaction
    }

    private func commitAll(_ database: Database) {
        let transaction = openTransaction(database)
        while let group = state.withLock({ $0.queue.next() }) {
            commit(group, transaction)
            log.onCommit(database)
        }
    }

    // MARK: One group

    private func commit(_ group: [any ChangeSet], _ transaction: StoreTransaction) {
        let (reason, webhooks, limits) = state.withLock { ($0.degradation, $0.webhooks, $0.deliveryLimits) }
        (transaction.webhooks, transaction.deliveryLimits) = (webhooks, limits)
        if let reason {
            for change in group { fail(change, StoreError.degraded(reason: reason)) }
            return
        }
        let beginning = ContinuousClock.now
        do throws(StoreError) {
            let failures = try transact(group, transaction)
            state.withLock { state in
                state.statistics.commitLatency.record(beginning.duration(to: .now))
                state.statistics.groupSize.record(Double(group.count))
            }
            deliver(group, failures, transaction)
        } catch {
            // If another process holds the lock, each single commit would wait for it again.
            guard group.count > 1, !error.isBusy else {
                for change in group { settle(change, error) }
                return
            }
            for change in group { commitSingly(change, transaction) }
        }
    }

    private func commitSingly(_ change: any ChangeSet, _ transaction: StoreTransaction) {
        do throws(StoreError) {
            let failures = try transact([change], transaction)
            deliver([change], failures, transaction)
        } catch {
            settle(change, error)
        }
    }

    /// Executes and commits; returns the errors of change-sets that failed individually, by index.
    private func transact(
        _ group: [any ChangeSet], _ transaction: StoreTransaction
    ) throws(StoreError) -> [Int: any Error] {
        var failures: [Int: any Error] = [:]
        try transaction.begin()
        do throws(StoreError) {
            // First without savepoints: each would copy every page that is changed.
            let failure = try executeAll(group, transaction)
            if failure != nil || configuration.repeatsWrites {
                transaction.rollBack()
                if let failure, group.count == 1 { return [0: failure] }
                try transaction.begin()
                for (index, change) in group.enumerated() {
                    if let failure = try transaction.isolate({ try change.execute(in: $0) }) {
                        failures[index] = failure
                    }
                }
            }
            try commitInPlace(transaction)
        } catch {
            transaction.rollBack()
            throw error
        }
        return failures
    }

    /// Commits, unless the files have been removed or replaced. If that happens during the commit, it throws, and no
    /// caller gets a confirmation.
    private func commitInPlace(_ transaction: StoreTransaction) throws(StoreError) {
        if let fault = place.fault { throw fault }
        try transaction.commit()
        if let fault = place.fault { throw fault }
    }

    /// Executes the change-sets until one fails; returns its error.
    private func executeAll(
        _ group: [any ChangeSet], _ transaction: StoreTransaction
    ) throws(StoreError) -> (any Error)? {
        for change in group {
            if let failure = try transaction.attempt({ try change.execute(in: $0) }) { return failure }
        }
        return nil
    }

    private func deliver(_ group: [any ChangeSet], _ failures: [Int: any Error], _ transaction: StoreTransaction) {
        let events = transaction.removeEvents()
        if !events.isEmpty { configuration.onCommit(events) }
        if transaction.hasNewHooks { configuration.onPendingHooks() }
        if transaction.hasNewDeliveries { configuration.onPendingDeliveries() }
        for (index, change) in group.enumerated() {
            guard let failure = failures[index] else {
                uncommittedStarts.onEnd(of: change)
                change.succeed()
                continue
            }
            if case StoreError.uncommittedStart(let task) = failure {
                uncommittedStarts.add(change, for: task)
            } else {
                fail(change, failure)
            }
        }
    }

    private func fail(_ change: any ChangeSet, _ error: any Error) {
        uncommittedStarts.onEnd(of: change)
        change.fail(error)
    }

    /// A change-set whose own transaction failed.
    private func settle(_ change: any ChangeSet, _ error: StoreError) {
        guard error.isStorageFailure else { return fail(change, error) }
        degrade(error.description)
        fail(change, StoreError.degraded(reason: error.description))
    }

    // MARK: Degraded

    /// The reason why changes are refused; nil if they are accepted.
    ///
    /// The store becomes degraded here if the database's files were moved or removed. A store without writes would not
    /// detect that otherwise.
    func examineDegradation() -> String? {
        let (reason, isClosed) = state.withLock { ($0.degradation, $0.isClosed) }
        guard reason == nil, !isClosed, let fault = place.fault else { return reason }
        degrade(fault.description)
        return fault.description
    }

    private func degrade(_ reason: String) {
        let isNew = state.withLock { state in
            defer { state.degradation = reason }
            return state.degradation == nil
        }
        guard isNew else { return }
        configuration.onDegradedChange(reason)
        probeLater()
    }

    private func probeLater() {
        Task { [weak self] in
            guard let interval = self?.configuration.probeInterval else { return }
            try? await Task.sleep(for: interval)
            guard let self, !isClosed else { return }
            pool.asyncWriteWithoutTransaction { self.probe($0) }
        }
    }

    /// Commits something that changes a page each time.
    private func probe(_ database: Database) {
        guard !isClosed else { return }
        let transaction = openTransaction(database)
        do throws(StoreError) {
            try transaction.begin()
            let count = try transaction.settings.find("probe").flatMap { Int64($0, radix: 10) } ?? 0
            try transaction.settings.set("probe", String(count &+ 1))
            try commitInPlace(transaction)
        } catch {
            transaction.rollBack()
            return probeLater()
        }
        state.withLock { $0.degradation = nil }
        configuration.onDegradedChange(nil)
    }
}
