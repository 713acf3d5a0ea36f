/// A task: the client's specification, its state and its results. Durable; a value read from the store.
///
/// Named `TransferTask` because Swift has a `Task` of its own. Class of origin: `NSURLSessionTask` with
/// AFURLSessionManager's task delegate.
public struct TransferTask: Hashable, Sendable {
    public var id: TaskID
    /// Copy-on-write, since a task is copied at every step while its specification stays unchanged.
    @usableFromInline var storedSpecification: CopyOnWrite<TaskSpecification>
    public var state: TaskState
    /// The wait, set exactly while `state` is `.waiting`.
    public var wait: Wait?
    /// The failure that led to the state `.failed` or to the wait for a retry; otherwise nil.
    public var error: TransferError?
    /// The transfer this task subscribes to, once it has started.
    public var transferID: TransferID?
    /// The batch it was added with. Never changes.
    public var batchID: BatchID?
    /// The position within its host: a lower one starts earlier under `fifo`, later under `lifo`.
    public var rank: Int64
    /// The number of attempts since the last progress: counts against `max_retries` and sets the backoff; reset by
    /// `task.retry`.
    public var attempts: Int
    /// The furthest committed offset ever: going past it is progress.
    public var furthest: Int64
    /// The start of `retry_for`: when the committed offset last passed its maximum, or the first attempt, shifted by
    /// the time without attempts. With nil the time begins with the next attempt.
    public var lastProgressAt: Timestamp?
    public var outcome: TaskOutcome
    public var createdAt: Timestamp
    public var startedAt: Timestamp?
    public var finishedAt: Timestamp?
    /// Committed bytes and total at the last checkpoint.
    public var received: Int64
    /// Content bytes the server acknowledged; for an upload in one request, the bytes that the attempt that ended last
    /// has sent.
    public var sent: Int64
    /// Complete length in bytes, nil while unknown.
    public var total: Int64?
    /// Tasks with an equal key may share a transfer; with nil the task shares with no other. See `SharingRules`.
    public var coalesceKey: [UInt8]?

    public init(id: TaskID, specification: TaskSpecification, state: TaskState, rank: Int64, createdAt: Timestamp) {
        self.init(
            id: id, storedSpecification: CopyOnWrite(specification), state: state, rank: rank, createdAt: createdAt)
    }

    public init(
        id: TaskID, storedSpecification: CopyOnWrite<TaskSpecification>, state: TaskState, rank: Int64,
        createdAt: Timestamp
    ) {
        self.id = id
        self.storedSpecification = storedSpecification
        self.state = state
        self.rank = rank
        self.createdAt = createdAt
        attempts = 0
        furthest = 0
        outcome = TaskOutcome()
        received = 0
        sent = 0
    }

    @inlinable public var specification: TaskSpecification {
        _read { yield storedSpecification.value }
        _modify { yield &storedSpecification.value }
    }

    /// True if both have the same specification.
    @inlinable public func requestsSame(as other: TransferTask) -> Bool {
        storedSpecification == other.storedSpecification
    }

    public var owner: Owner { specification.owner }
    /// The host the scheduler counts this task against.
    public var host: String { specification.request.url.hostKey }
}

/// Facts about a task's result, reported to clients.
public struct TaskOutcome: Hashable, Sendable, Codable {
    /// Absolute path of the published file.
    public var finalPath: String?
    public var finalURL: HTTPURL?
    public var httpStatus: Int?
    public var etag: String?
    public var contentEncoding: String?
    /// True if `on_conflict: skip` found the name taken.
    public var skipped = false
    /// True if `on_conflict: update` found the published file current.
    public var notModified = false
    /// Header fields of the last final response, secrets included: redact before showing.
    public var responseHeaders: [HeaderField] = []
    /// The measurements of the last attempt; nil before its end.
    public var lastAttempt: AttemptTrace? {
        // A row has no place for these, and a task in memory equals its row.
        didSet {
            lastAttempt?.localPort = nil
            lastAttempt?.addressedHost = nil
        }
    }

    public init() {}
}
