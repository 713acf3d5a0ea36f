public import XferModel

// Tasks/
extension StoreReader {
    public func task(_ id: TaskID) throws(StoreError) -> TransferTask? { fatalError("in the making") }
    /// The task that holds this key of its owner.
    public func taskID(owner: Owner, clientKey: String) throws(StoreError) -> TaskID? { fatalError("in the making") }
    /// The task an add with `specification.clientKey` was answered with before, and whether it asked for the same then.
    public func earlierAdd(of specification: TaskSpecification) throws(StoreError) -> EarlierAdd? {
        fatalError("in the making")
    }
    /// The highest id that was ever given to a task, nil before the first.
    public func maxTaskID() throws(StoreError) -> TaskID? { fatalError("in the making") }
    /// Tasks in this state with ids above `after`, ascending.
    public func tasks(inState state: TaskState, after: TaskID? = nil, limit: Int) throws(StoreError) -> [TransferTask] {
        fatalError("in the making")
    }
    public func tasks(subscribingTo transfer: TransferID) throws(StoreError) -> [TransferTask] {
        fatalError("in the making")
    }
}

public struct EarlierAdd: Hashable, Sendable {
    public let id: TaskID
    public let askedForTheSame: Bool
}

extension StoreTransaction {
    /// A new row with the next id; `rank` is `id << 20`.
    public func insertTask(
        _ specification: TaskSpecification, state: TaskState, wait: Wait? = nil, at time: Timestamp
    ) throws(StoreError) -> TransferTask { fatalError("in the making") }
    /// Writes every mutable column but `rank`, which only `move` changes.
    public func update(_ task: TransferTask) throws(StoreError) { fatalError("in the making") }
    /// Forgets the row and its reservations; its transfer stays, see `orphanedTransfers`.
    public func deleteTask(_ id: TaskID) throws(StoreError) { fatalError("in the making") }
}

// Queue/

/// Where `move` puts a task among its host's queued tasks; "before" means that it starts earlier.
public enum MovePosition: Hashable, Sendable {
    /// Starts next; its host is served next too.
    case top
    case bottom
    case before(TaskID)
    case after(TaskID)
}

extension StoreReader {
    /// Hosts that have queued tasks and are not cooling down, least recently served first.
    public func nextHosts(priority: Priority, limit: Int) throws(StoreError) -> [String] { fatalError("in the making") }
    /// The task of this host that starts next.
    public func head(priority: Priority, host: String, order: QueueOrder) throws(StoreError) -> TaskID? {
        fatalError("in the making")
    }
    /// When the first cooldown ends.
    public func earliestCooldown() throws(StoreError) -> Timestamp? { fatalError("in the making") }
    /// Hosts whose cooldown has ended; `setCooldown(_, nil)` lets them back in.
    public func expiredCooldowns(now: Timestamp, limit: Int = 1000) throws(StoreError) -> [String] {
        fatalError("in the making")
    }
    public func cooldown(of host: String) throws(StoreError) -> Timestamp? { fatalError("in the making") }
    /// Numbers of tasks by state: all, one owner's, one group's, or one owner's within a group. O(1).
    public func counts(owner: Owner? = nil, group: String? = nil) throws(StoreError) -> [TaskState: Int64] {
        fatalError("in the making")
    }
    public func earliestWaitUntil() throws(StoreError) -> Timestamp? { fatalError("in the making") }
    /// Waiting tasks whose time has come, earliest first.
    public func dueWaits(now: Timestamp, limit: Int) throws(StoreError) -> [TransferTask] {
        fatalError("in the making")
    }
    /// Tasks waiting for this reason with ids above `after`, ascending.
    public func waiting(for reason: WaitReason, after: TaskID? = nil, limit: Int) throws(StoreError) -> [TransferTask] {
        fatalError("in the making")
    }
}

extension StoreTransaction {
    /// Puts the host at the end of the rotation.
    public func markServed(host: String, priority: Priority) throws(StoreError) { fatalError("in the making") }
    /// Keeps the host out of `nextHosts` until `setCooldown(_, nil)`.
    public func setCooldown(host: String, until: Timestamp?) throws(StoreError) { fatalError("in the making") }
    /// Changes the task's rank among the tasks of its host and priority; answers the new rank.
    @discardableResult
    public func move(_ id: TaskID, to position: MovePosition, order: QueueOrder) throws(StoreError) -> Int64 {
        fatalError("in the making")
    }
}

// Transfers/
extension StoreReader {
    public func transfer(_ id: TransferID) throws(StoreError) -> Transfer? { fatalError("in the making") }
    /// Transfers that no task subscribes to any more, with ids above `after`, ascending.
    public func orphanedTransfers(after: TransferID? = nil, limit: Int) throws(StoreError) -> [Transfer] {
        fatalError("in the making")
    }
    /// The task that holds this name in this directory.
    public func holder(ofName name: String, in directory: FileIdentity) throws(StoreError) -> TaskID? {
        fatalError("in the making")
    }
}

extension StoreTransaction {
    public func insertTransfer(partial: PartialLocation, at time: Timestamp) throws(StoreError) -> Transfer {
        fatalError("in the making")
    }
    public func update(resumeData: ResumeData, of id: TransferID) throws(StoreError) { fatalError("in the making") }
    /// The cheap way for checkpoints: replaces the segments and leaves the rest alone.
    public func checkpoint(_ id: TransferID, segments: [Segment]) throws(StoreError) { fatalError("in the making") }
    public func update(partial: PartialLocation, of id: TransferID) throws(StoreError) { fatalError("in the making") }
    public func setPublishIntent(_ intent: PublishIntent?, of id: TransferID) throws(StoreError) {
        fatalError("in the making")
    }
    /// Forgets the row; tasks that subscribed to it no longer do.
    public func deleteTransfer(_ id: TransferID) throws(StoreError) { fatalError("in the making") }
    /// Takes a final name for a task; false when another task holds it.
    public func reserve(_ name: String, in directory: FileIdentity, by task: TaskID) throws(StoreError) -> Bool {
        fatalError("in the making")
    }
    /// Gives back all names the task holds.
    public func releaseReservations(of task: TaskID) throws(StoreError) { fatalError("in the making") }
}

// Events/
extension StoreReader {
    /// Events with `seq` above `since`, ascending; nil filters match everything.
    public func events(
        since: Int64, types: Set<EventType>? = nil, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil, limit: Int
    ) throws(StoreError) -> [Event] { fatalError("in the making") }
    /// The oldest event kept, nil when there is none.
    public func firstSeq() throws(StoreError) -> Int64? { fatalError("in the making") }
    /// The highest number ever given, 0 before the first; trimming does not lower it.
    public func lastSeq() throws(StoreError) -> Int64 { fatalError("in the making") }
}

extension StoreTransaction {
    /// Gives the event the next number; `onCommit` gets it once it is durable.
    @discardableResult
    public func append(
        _ payload: EventPayload, taskID: TaskID? = nil, owner: Owner? = nil, at time: Timestamp
    ) throws(StoreError) -> Event { fatalError("in the making") }
    /// Removes at most `step` of the oldest events that are beyond `maxCount` or older than `olderThan`, and older than
    /// 24 h in any case; answers how many. Call again, in a write of its own, until 0.
    public func trimEvents(
        maxCount: Int64, olderThan: Timestamp, now: Timestamp, step: Int = 1000
    ) throws(StoreError) -> Int { fatalError("in the making") }
}

// Settings/
extension StoreReader {
    public func setting(_ key: String) throws(StoreError) -> String? { fatalError("in the making") }
}

extension StoreTransaction {
    /// Nil removes the key.
    public func setSetting(_ key: String, _ value: String?) throws(StoreError) { fatalError("in the making") }
}

// Lists/
/// Which tasks a list or a verb is about: fields are ANDed, values within a field ORed; nil does not restrict, an empty
/// array matches nothing.
public struct TaskFilter: Hashable, Sendable {
    public var states: [TaskState]?
    public var kinds: [TaskKind]?
    public var groups: [String]?
    public var labels: [String]?
    public var owners: [Owner]?
    public var hosts: [String]?
    public var ids: [TaskID]?

    public init(
        states: [TaskState]? = nil, kinds: [TaskKind]? = nil, groups: [String]? = nil, labels: [String]? = nil,
        owners: [Owner]? = nil, hosts: [String]? = nil, ids: [TaskID]? = nil
    ) {
        self.states = states
        self.kinds = kinds
        self.groups = groups
        self.labels = labels
        self.owners = owners
        self.hosts = hosts
        self.ids = ids
    }
}

public struct TaskPage: Hashable, Sendable {
    public var tasks: [TransferTask]
    /// Nil on the last page.
    public var nextCursor: String?
}

extension StoreReader {
    /// One page ordered by id. The cursor is opaque and bound to filter and order; a task that matches throughout appears
    /// exactly once over all pages.
    public func list(
        _ filter: TaskFilter, ascending: Bool = false, limit: Int, cursor: String? = nil
    ) throws(StoreError) -> TaskPage { fatalError("in the making") }
    /// Ids of matching tasks above `after` and up to `upTo`, ascending: verbs work through a filter with it in chunks.
    public func ids(
        matching filter: TaskFilter, after: TaskID? = nil, upTo: TaskID, limit: Int
    ) throws(StoreError) -> [TaskID] { fatalError("in the making") }
    /// Failed tasks that finished before `olderThan` and still have a transfer, oldest first.
    public func expiredFailed(olderThan: Timestamp, limit: Int) throws(StoreError) -> [TransferTask] {
        fatalError("in the making")
    }
}

extension StoreTransaction {
    /// Deletes at most `step` of the terminal tasks that finished first, beyond `maxCount` or finished before `olderThan`;
    /// answers which. Call again, in a write of its own, until none.
    public func trimHistory(maxCount: Int64, olderThan: Timestamp, step: Int = 200) throws(StoreError) -> [TaskID] {
        fatalError("in the making")
    }
}

// Care/
extension TaskStore {
    /// Looks for damage on a connection of its own; reads the whole file, so call it on a thread of its own.
    ///
    /// - Parameter thoroughly: also compares indexes and tables (`integrity_check`), foreign keys, and the counts the
    ///   store keeps; otherwise `quick_check`.
    /// - Throws: `StoreError.damaged` with the findings.
    public static func check(at path: String, thoroughly: Bool) throws(StoreError) { fatalError("in the making") }

    /// Sets the database, with its -wal and -shm, aside under a new name and puts a new one in its place with every row
    /// that could be read. Nothing is deleted. The database must not be open.
    public static func recover(at path: String, now: Timestamp) throws(StoreError) -> RecoveryReport {
        fatalError("in the making")
    }
}

public struct RecoveryReport: Hashable, Sendable {
    /// Where the damaged file lies now; -wal and -shm beside it under the same name.
    public var setAside: String
    /// Rows salvaged by table.
    public var salvaged: [String: Int64]
    /// What could not be read, one line per table.
    public var losses: [String]
}
