import GRDB
import Glibc
public import XferModel

/// The state of the database: a snapshot in `TaskStore.read`, the transaction so far in `TaskStore.write`.
///
/// Valid only within the closure that gets it. The queries are in extensions, in the folder of their concept.
public class StoreReader {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Writes the gathered deltas, so that the tables can be read.
    func settleHosts() throws(StoreError) {}
    func settleTurns() throws(StoreError) {}
    func settleCounts() throws(StoreError) {}
    func settleBatches() throws(StoreError) {}

    /// The task as in its row, if it is in `TaskCache`.
    func known(_ id: TaskID) -> TransferTask? { nil }
    /// Records that the task's row has these values, except for its rank.
    func remember(_ task: TransferTask, rank: Int64) {}
}

/// A `StoreReader` that can also change the database. One object serves all transactions of the writer.
public final class StoreTransaction: StoreReader {
    /// The changes of the number of queued tasks per host: `host_queue`.
    private var hostDeltas = GatheredCountDeltas<HostKey>()
    /// The changes of the number of tasks per state: `task_count`.
    private var countDeltas = GatheredCountDeltas<CountKey>()
    /// The changes of the states of batches' members: `batch_count`.
    private var batchDeltas = GatheredCountDeltas<BatchKey>()
    /// The served lanes, which may belong to several transactions: turns may be written by a later one. A rollback
    /// restores the previous value.
    var served = ServedLanes()
    /// `served` before the transaction.
    private var servedBefore = ServedLanes()
    private var newEvents: [Event] = []
    private let cachedTasks = TaskCache()
    /// Tag of the store's id, which never changes.
    var knownTag: String?
    /// The store's id, which never changes, once a delivery needed it.
    var knownStoreID: String?
    /// True if `host_cooldown` may have rows.
    var mayHaveCooldowns = true
    let texts: StoreTexts
    /// True if a hook was recorded that has to run; may be true even if its change-set was rolled back.
    var hasNewHooks = false
    /// True if deliveries were recorded; see `hasNewHooks`.
    var hasNewDeliveries = false
    /// True if deliveries of a user are discarded that were not before; see `hasNewHooks`.
    var hasNewDiscards = false
    /// The webhooks that follow events; nil without any.
    var webhooks: WebhookSubscriptions?
    /// The bounds of the deliveries that wait.
    var deliveryLimits = DeliveryLimits()
    /// The tasks that only their brief runs may change.
    let uncommittedStarts: UncommittedStarts
    /// The tasks with uncommitted starts that this transaction added: a rollback removes them.
    private var newStarts: [TaskID] = []
    /// True if the change-set belongs to those runs; see `asStarter`.
    var isStarter = false
    /// The webhooks of tasks whose end is in this transaction, until the event of the end is appended.
    var endWebhooks: [TaskID: [String]] = [:]

    init(_ connection: Connection, texts: StoreTexts, uncommittedStarts: UncommittedStarts = UncommittedStarts()) {
        self.texts = texts
        self.uncommittedStarts = uncommittedStarts
        super.init(connection)
        connection.reportChanges(to: cachedTasks)
    }

    /// Releases the connection's resources, so that it can be closed.
    func end() { connection.end() }

    // MARK: The group's transaction

    func begin() throws(StoreError) {
        connection.startAfresh()
        forgetGroup()
        newStarts = []
        servedBefore = served
        // Not GRDB's, which parses the text each time.
        try connection.run("BEGIN IMMEDIATE TRANSACTION")
    }

    func commit() throws(StoreError) {
        try settle()
        try connection.run("COMMIT TRANSACTION")
    }

    /// Writes the gathered changes of counts, and the events that follow from all others.
    func settle() throws(StoreError) {
        try settleHosts()
        try settleCounts()
        try settleBatches()
        try deliveries.reportDiscards()
    }

    /// Rolls back, also after a failed `begin` or `commit`.
    func rollBack() {
        // SQLite may have rolled back by itself; a failure here adds nothing to the error of the COMMIT.
        try? connection.database.rollback()
        GatheredLog.discard(on: connection.database)
        cachedTasks.forgetAll()
        forgetGroup()
        undo(to: Beginning(startCount: 0, served: servedBefore))
    }

    /// The state that a rollback restores in addition to the database.
    private struct Beginning {
        var startCount: Int
        var served: ServedLanes
    }

    private func undo(to beginning: Beginning) {
        served = beginning.served
        mayHaveCooldowns = true
        let undone = newStarts[beginning.startCount...]
        newStarts.removeSubrange(beginning.startCount...)
        if !undone.isEmpty { uncommittedStarts.release(undone) }
    }

    private func forgetGroup() {
        hostDeltas = GatheredCountDeltas()
        countDeltas = GatheredCountDeltas()
        batchDeltas = GatheredCountDeltas()
        newEvents = []
        hasNewHooks = false
        hasNewDeliveries = false
        hasNewDiscards = false
        if !endWebhooks.isEmpty { endWebhooks = [:] }
    }

    /// Returns the events of the committed transaction, in the order of their numbers.
    func removeEvents() -> [Event] {
        defer { newEvents = [] }
        return newEvents
    }

    func remember(_ event: Event) { newEvents.append(event) }

    // MARK: One change-set's savepoint

    /// Runs `body` in a savepoint. Returns the error that `body` threw, whose changes are rolled back; throws the error
    /// that rolled back the whole transaction.
    func isolate(_ body: (StoreTransaction) throws -> Void) throws(StoreError) -> (any Error)? {
        let eventCount = newEvents.count
        let endWebhooks = endWebhooks
        let beginning = Beginning(startCount: newStarts.count, served: served)
        try connection.run("SAVEPOINT change_set")
        if let failure = try attempt(body) {
            try connection.run("ROLLBACK TO change_set")
            try connection.run("RELEASE change_set")
            hostDeltas.undo()
            countDeltas.undo()
            batchDeltas.undo()
            newEvents.removeSubrange(eventCount...)
            self.endWebhooks = endWebhooks
            cachedTasks.forgetAll()
            undo(to: beginning)
            return failure
        }
        try connection.run("RELEASE change_set")
        hostDeltas.keep()
        countDeltas.keep()
        batchDeltas.keep()
        return nil
    }

    /// Runs `body`. Returns the error that `body` threw; throws an error that has rolled back the whole transaction, or
    /// has to.
    func attempt(_ body: (StoreTransaction) throws -> Void) throws(StoreError) -> (any Error)? {
        var failure: (any Error)?
        do { try body(self) } catch { failure = error }
        // Also if `body` caught the error.
        if let abortion = connection.abortion { throw abortion }
        // A full or broken disk concerns the whole group: the next statement would fail, too.
        if let error = failure as? StoreError, error.isStorageFailure { throw error }
        return failure
    }

    // MARK: Held tasks

    /// Reserves the task's row for its brief run from now on, so that no other change-set changes it. A rollback undoes
    /// it.
    public func addUncommittedStart(_ id: TaskID) { if uncommittedStarts.insert(id) { newStarts.append(id) } }

    /// Runs `body`, which may change tasks with uncommitted starts: they belong to its caller.
    public func asStarter<Value>(_ body: () throws -> Value) rethrows -> Value {
        isStarter = true
        defer { isStarter = false }
        return try body()
    }

    /// Throws if only the task's brief run may change the task's row.
    func requireFree(_ id: TaskID) throws(StoreError) {
        if !isStarter, uncommittedStarts.contains(id) { throw .uncommittedStart(id) }
    }

    func requireFree(_ tasks: [TaskOutline]) throws(StoreError) {
        if !isStarter, let first = uncommittedStarts.first(of: tasks.lazy.map(\.id)) { throw .uncommittedStart(first) }
    }

    // MARK: Cached tasks

    override func known(_ id: TaskID) -> TransferTask? {
        guard let task = cachedTasks[id] else { return nil }
        InvariantChecks.require((try? tasks.row(of: id)) == task, "task \(id) differs from its row")
        return task
    }

    override func remember(_ task: TransferTask, rank: Int64) {
        // What has ended is hardly read again, and would displace what runs.
        guard !task.state.isTerminal else { return }
        var task = task
        task.rank = rank
        cachedTasks[task.id] = task
    }

    // MARK: Tables kept by deltas

    /// Counts a task at `place` (`by` 1), or removes it from there (−1).
    func count(_ place: QueuePlace, by amount: Int64) {
        countDeltas.current.add(amount, to: CountKey(owner: place.owner, group: place.group, state: place.state))
        if let batch = place.batch { batchDeltas.current.add(amount, to: BatchKey(batch: batch, state: place.state)) }
        guard place.state == .queued else { return }
        hostDeltas.current.add(amount, to: place.lane)
    }

    override func settleHosts() throws(StoreError) {
        for (key, amount) in hostDeltas.removeAll() where amount != 0 { try queue.change(key, by: amount) }
    }

    /// Writes the turns of lanes that were served. `commit` does not.
    public override func settleTurns() throws(StoreError) {
        let lanes = served.removeAll()
        if !lanes.isEmpty { try queue.writeTurns(of: lanes) }
    }

    override func settleCounts() throws(StoreError) {
        for (key, amount) in countDeltas.removeAll() where amount != 0 { try counts.change(key, by: amount) }
    }

    override func settleBatches() throws(StoreError) {
        let differences = batchDeltas.removeAll()
        guard !differences.isEmpty else { return }
        for (key, amount) in differences where amount != 0 { try batches.change(key, by: amount) }
        var seen: Set<BatchID> = []
        for (key, _) in differences where seen.insert(key.batch).inserted { try batches.completeIfFinished(key.batch) }
    }
}

/// Copies of tasks' rows: a task that starts, publishes and ends is read by three transactions within moments, and the
/// next one would read what the last one wrote.
///
/// Exact, because SQLite reports every row that any statement of the connection changes (sqlite3_update_hook), and no
/// other connection writes. Used on the writer's queue only.
final class TaskCache: RowChangeListener {
    /// The capacity of the cache: more than the number of tasks that run at the same time, brief runs included; beyond
    /// it the cache is emptied.
    private static let maxTasks = 512

    private var tasks: [TaskID: TransferTask] = [:]

    subscript(id: TaskID) -> TransferTask? {
        get { tasks[id] }
        set {
            if tasks.count >= Self.maxTasks, tasks[id] == nil { tasks.removeAll(keepingCapacity: true) }
            tasks[id] = newValue
        }
    }

    /// Called when a row was inserted, changed or deleted.
    func onChange(ofTable table: UnsafePointer<CChar>, row: Int64) {
        guard !tasks.isEmpty, strcmp(table, "task") == 0 else { return }
        tasks[TaskID(row)] = nil
    }

    /// Clears the cache, because the transaction was rolled back.
    func forgetAll() { tasks.removeAll(keepingCapacity: true) }
}
