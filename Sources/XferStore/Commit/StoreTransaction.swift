import GRDB
import XferModel

/// What can be read from the database: a snapshot in `TaskStore.read`, the transaction so far in `TaskStore.write`.
///
/// Valid only within the closure it is given to. The queries are in extensions, in the folder of their concept.
public class StoreReader {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Bring the tables that are kept by differences up to date: called before they are read.
    func settleHosts() throws(StoreError) {}
    func settleCounts() throws(StoreError) {}
    func settleBatches() throws(StoreError) {}

    /// The task as its row is, where that need not be read: see `TaskCache`.
    func known(_ id: TaskID) -> TransferTask? { nil }
    /// The task's row is like this, but for its rank.
    func remember(_ task: TransferTask, rank: Int64) {}
}

/// A `StoreReader` that can also change the database. One object serves all transactions of the writer.
public final class StoreTransaction: StoreReader {
    /// How many tasks are queued per host: `host_queue`.
    private var hosts = GatheredCountDeltas<HostKey>()
    /// How many tasks there are per state: `task_count`.
    private var counts = GatheredCountDeltas<CountKey>()
    /// How the members of batches stand: `batch_count`.
    private var batches = GatheredCountDeltas<BatchKey>()
    private var events: [Event] = []
    private let tasks = TaskCache()
    /// Of the store's id, which never changes.
    var knownTag: String?
    /// See `StoreConfiguration.describe`.
    let describe: @Sendable (TransferTask) -> String
    /// Whether a hook was noted that is to run; may be true though its change-set was undone.
    var hasNewHooks = false

    init(_ connection: Connection, describe: @escaping @Sendable (TransferTask) -> String) {
        self.describe = describe
        super.init(connection)
        connection.tellChanges(to: tasks)
    }

    /// Lets go of what the connection holds for it, which can be closed then.
    func end() { connection.end() }

    // MARK: The group's transaction

    func begin() throws(StoreError) {
        connection.startAfresh()
        forgetGroup()
        // Not GRDB's, which parses the text each time.
        try connection.run("BEGIN IMMEDIATE TRANSACTION")
    }

    func commit() throws(StoreError) {
        try settleHosts()
        try settleCounts()
        try settleBatches()
        try connection.run("COMMIT TRANSACTION")
    }

    /// After a failed `begin` or `commit`, too.
    func rollBack() {
        // SQLite may have undone the transaction by itself; nothing else can go wrong here that a COMMIT could tell.
        try? connection.database.rollback()
        GatheredLog.discard(on: connection.database)
        tasks.forgetAll()
        forgetGroup()
    }

    private func forgetGroup() {
        hosts = GatheredCountDeltas()
        counts = GatheredCountDeltas()
        batches = GatheredCountDeltas()
        events = []
        hasNewHooks = false
    }

    /// The events of the transaction that was committed, in the order of their numbers.
    func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    func remember(_ event: Event) { events.append(event) }

    // MARK: One change-set's savepoint

    /// Runs `body` in a savepoint. What it throws undoes the savepoint and is answered; thrown here is what undid the
    /// whole transaction.
    func isolate(_ body: (StoreTransaction) throws -> Void) throws(StoreError) -> (any Error)? {
        let eventCount = events.count
        try connection.run("SAVEPOINT change_set")
        if let failure = try attempt(body) {
            try connection.run("ROLLBACK TO change_set")
            try connection.run("RELEASE change_set")
            hosts.undo()
            counts.undo()
            batches.undo()
            events.removeSubrange(eventCount...)
            tasks.forgetAll()
            return failure
        }
        try connection.run("RELEASE change_set")
        hosts.keep()
        counts.keep()
        batches.keep()
        return nil
    }

    /// Runs `body`. What it throws is answered; thrown here is what undid the whole transaction, or would undo it.
    func attempt(_ body: (StoreTransaction) throws -> Void) throws(StoreError) -> (any Error)? {
        var failure: (any Error)?
        do { try body(self) } catch { failure = error }
        // Also when `body` swallowed it.
        if let abortion = connection.abortion { throw abortion }
        // A full disk or a broken one is the group's affair: the next statement would find it, too.
        if let error = failure as? StoreError, error.isStorageFailure { throw error }
        return failure
    }

    // MARK: Tasks that were read or written before

    override func known(_ id: TaskID) -> TransferTask? {
        guard let task = tasks[id] else { return nil }
        assert((try? row(of: id)) == task, "task \(id) is not as its row")
        return task
    }

    override func remember(_ task: TransferTask, rank: Int64) {
        var task = task
        task.rank = rank
        tasks[task.id] = task
    }

    // MARK: Tables kept by differences

    /// A task came to be as `place` says (`by` 1), or is no longer so (−1).
    func count(_ place: QueuePlace, by amount: Int64) {
        counts.current.add(amount, to: CountKey(owner: place.owner, group: place.group, state: place.state))
        if let batch = place.batch { batches.current.add(amount, to: BatchKey(batch: batch, state: place.state)) }
        guard place.state == .queued else { return }
        hosts.current.add(amount, to: place.lane)
    }

    override func settleHosts() throws(StoreError) {
        for (key, amount) in hosts.takeAll() where amount != 0 { try change(key, by: amount) }
    }

    override func settleCounts() throws(StoreError) {
        for (key, amount) in counts.takeAll() where amount != 0 { try change(key, by: amount) }
    }

    override func settleBatches() throws(StoreError) {
        let differences = batches.takeAll()
        guard !differences.isEmpty else { return }
        for (key, amount) in differences where amount != 0 { try change(key, by: amount) }
        var seen: Set<BatchID> = []
        for (key, _) in differences where seen.insert(key.batch).inserted { try noteCompletion(of: key.batch) }
    }
}
