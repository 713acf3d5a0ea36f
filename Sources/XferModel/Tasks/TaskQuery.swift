/// Selects tasks for a list or a verb: fields are ANDed, values within a field ORed; nil does not restrict, an empty
/// array matches nothing.
public struct TaskQuery: Hashable, Sendable {
    public var states: [TaskState]?
    public var kinds: [TaskKind]?
    public var groups: [String]?
    public var labels: [String]?
    /// The slot a task was added to, even if it has left it.
    public var slots: [String]?
    public var owners: [Owner]?
    /// As the scheduler counts them, see `HTTPURL.hostKey`.
    public var hosts: [String]?
    public var ids: [TaskID]?

    public init(
        states: [TaskState]? = nil, kinds: [TaskKind]? = nil, groups: [String]? = nil, labels: [String]? = nil,
        owners: [Owner]? = nil, hosts: [String]? = nil, ids: [TaskID]? = nil, slots: [String]? = nil
    ) {
        self.states = states
        self.kinds = kinds
        self.groups = groups
        self.labels = labels
        self.owners = owners
        self.hosts = hosts
        self.ids = ids
        self.slots = slots
    }
}

/// One page of a list.
public struct TaskPage: Hashable, Sendable {
    public var tasks: [TransferTask]
    /// Tasks of this page whose rows are damaged: they are left out of `tasks`.
    public var unreadable: [TaskID] = []
    /// Nil on the last page.
    public var nextCursor: String?

    public init(tasks: [TransferTask], nextCursor: String? = nil) {
        self.tasks = tasks
        self.nextCursor = nextCursor
    }
}
