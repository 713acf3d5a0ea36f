/// Identifies a group of tasks. Every owner has groups of its own, like slots.
public struct GroupKey: Hashable, Sendable {
    public var owner: Owner
    public var name: String

    public init(owner: Owner, name: String) {
        self.owner = owner
        self.name = name
    }
}

/// Identifies a lane: the queued tasks of one priority, group, profile and host.
///
/// `order` and `task.move` decide the order within a lane. The lanes of one priority take turns.
public struct QueueLane: Hashable, Sendable {
    public var priority: Priority
    /// The group, or nil for tasks without a group.
    public var group: GroupKey?
    /// The profile, or nil for tasks without a profile.
    public var profile: String?
    public var host: String

    public init(priority: Priority, group: GroupKey? = nil, profile: String? = nil, host: String) {
        self.priority = priority
        self.group = group
        self.profile = profile
        self.host = host
    }
}

/// Lanes that may not start tasks now, because their host, group or profile has reached its limit.
public struct LaneExclusions: Hashable, Sendable {
    public var groups: Set<GroupKey>
    public var profiles: Set<String>
    public var hosts: Set<String>

    public init(groups: Set<GroupKey> = [], profiles: Set<String> = [], hosts: Set<String> = []) {
        self.groups = groups
        self.profiles = profiles
        self.hosts = hosts
    }
}

/// A group's own limits. If one is nil, only the limits for all transfers apply.
public struct GroupLimits: Hashable, Sendable {
    /// The highest number of active transfers, at least 1.
    public var maxActive: Int?
    /// Bytes per second that its transfers may receive together; 0 is unlimited.
    public var maxReceiveRate: Int64?
    /// Bytes of content per second that its transfers may send together; 0 is unlimited.
    public var maxSendRate: Int64?

    /// The values that any limit on active transfers may have.
    public static let activeRange: ClosedRange<Int64> = 1...10_000

    public init(maxActive: Int? = nil, maxReceiveRate: Int64? = nil, maxSendRate: Int64? = nil) {
        self.maxActive = maxActive
        self.maxReceiveRate = maxReceiveRate
        self.maxSendRate = maxSendRate
    }
}

/// A stored group: its settings, and the states of its tasks.
public struct TaskGroup: Hashable, Sendable {
    public var key: GroupKey
    public var limits: GroupLimits
    /// True if its tasks may not start.
    public var isPaused: Bool
    /// The batch that the group was made for.
    public var batch: BatchID?
    public var counts: [TaskState: Int64]

    public init(
        key: GroupKey, limits: GroupLimits = GroupLimits(), isPaused: Bool = false, batch: BatchID? = nil,
        counts: [TaskState: Int64] = [:]
    ) {
        self.key = key
        self.limits = limits
        self.isPaused = isPaused
        self.batch = batch
        self.counts = counts
    }
}

extension TransferTask {
    /// The group the scheduler counts this task against.
    public var group: GroupKey? { specification.group.map { GroupKey(owner: owner, name: $0) } }

    /// The lane of the task while it is queued.
    public var lane: QueueLane {
        QueueLane(
            priority: specification.priority, group: group, profile: specification.profile, host: host)
    }
}
