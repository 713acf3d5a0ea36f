/// Names a group of tasks. Every owner has groups of its own, as it has slots of its own.
public struct GroupKey: Hashable, Sendable {
    public var owner: Owner
    public var name: String

    public init(owner: Owner, name: String) {
        self.owner = owner
        self.name = name
    }
}

/// The queued tasks of one priority, group and host: within a lane `order` and `task.move` hold, among the lanes of a
/// priority starts rotate.
public struct QueueLane: Hashable, Sendable {
    public var priority: Priority
    /// Nil for tasks without a group.
    public var group: GroupKey?
    public var host: String

    public init(priority: Priority, group: GroupKey? = nil, host: String) {
        self.priority = priority
        self.group = group
        self.host = host
    }
}

/// A group as it is kept: what was set for it, and how its tasks stand.
public struct TaskGroup: Hashable, Sendable {
    public var key: GroupKey
    /// Transfers of this group at once; nil is bounded by the queue's limits only.
    public var maxActive: Int?
    /// Whether starts are held back.
    public var isPaused: Bool
    /// The batch it was made for.
    public var batch: BatchID?
    public var counts: [TaskState: Int64]

    public init(
        key: GroupKey, maxActive: Int? = nil, isPaused: Bool = false, batch: BatchID? = nil,
        counts: [TaskState: Int64] = [:]
    ) {
        self.key = key
        self.maxActive = maxActive
        self.isPaused = isPaused
        self.batch = batch
        self.counts = counts
    }
}

extension TransferTask {
    /// The group the scheduler counts this task against.
    public var group: GroupKey? { specification.group.map { GroupKey(owner: owner, name: $0) } }

    /// Where it stands while it is queued.
    public var lane: QueueLane { QueueLane(priority: specification.priority, group: group, host: host) }
}
