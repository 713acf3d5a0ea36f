/// Selects tasks for a list or a verb: fields are ANDed, values within a field ORed; nil does not restrict, an empty
/// array matches nothing.
public struct TaskQuery: Hashable, Sendable {
    public var states: [TaskState]?
    public var kinds: [TaskKind]?
    public var groups: [String]?
    public var batches: [BatchID]?
    public var labels: [String]?
    /// The slot a task was added to, even if it has left it.
    public var slots: [String]?
    public var owners: [Owner]?
    public var hosts: [HostSelector]?
    public var ids: [TaskID]?
    public var clientKeys: [String]?
    /// Reasons of the last failures.
    public var reasons: [FailureReason]?
    /// The beginning of the URL, without a query.
    public var urlPrefix: String?
    public var created = TimeRange()
    public var finished = TimeRange()

    /// Times from `from` on and before `before`; nil is unbounded.
    public struct TimeRange: Hashable, Sendable {
        public var from: Timestamp?
        public var before: Timestamp?

        public init(from: Timestamp? = nil, before: Timestamp? = nil) {
            self.from = from
            self.before = before
        }
    }

    public init(
        states: [TaskState]? = nil, kinds: [TaskKind]? = nil, groups: [String]? = nil, labels: [String]? = nil,
        owners: [Owner]? = nil, hosts: [HostSelector]? = nil, ids: [TaskID]? = nil, slots: [String]? = nil,
        batches: [BatchID]? = nil
    ) {
        self.states = states
        self.kinds = kinds
        self.groups = groups
        self.labels = labels
        self.owners = owners
        self.hosts = hosts
        self.ids = ids
        self.slots = slots
        self.batches = batches
    }
}

/// Bounds of one page of a list. The first one that is reached ends the page; its cursor continues there.
public struct PageBounds: Hashable, Sendable {
    /// The highest number of elements.
    public var limit: Int
    /// The highest number of rows that are inspected, whether they match or not.
    public var scan: Int
    /// The highest number of bytes of variable length that the elements have in memory, beside the first one.
    public var bytes: Int

    /// The number of rows that a page inspects by default: some milliseconds of reading.
    public static let usualScan = 10_000

    public init(limit: Int, scan: Int = usualScan, bytes: Int = 4 << 20) {
        self.limit = limit
        self.scan = scan
        self.bytes = bytes
    }
}

/// One page of a list.
public struct TaskPage: Hashable, Sendable {
    public var tasks: [TransferTask]
    /// Tasks of this page whose rows are damaged: they are left out of `tasks`.
    public var unreadable: [TaskID] = []
    /// The place behind each task of the page, damaged ones included, as a cursor. In the order of the list.
    public var places: [Place] = []
    /// The cursor of the next page; nil on the last page. Other pages may have fewer tasks than their limit, even none.
    public var nextCursor: String?

    /// The cursor after a task of the page.
    public struct Place: Hashable, Sendable {
        public var id: TaskID
        public var cursor: String

        public init(id: TaskID, cursor: String) {
            self.id = id
            self.cursor = cursor
        }
    }

    public init(tasks: [TransferTask], nextCursor: String? = nil) {
        self.tasks = tasks
        self.nextCursor = nextCursor
    }

    /// Ends the page after its first `count` tasks, for an answer with room for no more.
    public mutating func cut(to count: Int) {
        guard count < tasks.count, count > 0, let last = places.firstIndex(where: { $0.id == tasks[count - 1].id })
        else { return }
        tasks.removeSubrange(count...)
        let kept = Set(places[...last].map(\.id))
        unreadable.removeAll { !kept.contains($0) }
        nextCursor = places[last].cursor
        places.removeSubrange((last + 1)...)
    }
}
