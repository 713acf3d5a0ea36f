/// A durable, sequence-numbered fact about a task or the service.
public struct Event: Hashable, Sendable {
    /// The sequence number. It grows by one per durable event over the whole service and survives restarts.
    public let seq: Int64
    public let time: Timestamp
    public let taskID: TaskID?
    /// The owner of the task; nil for events about the service.
    public let owner: Owner?
    public let payload: EventPayload

    public init(seq: Int64, time: Timestamp, taskID: TaskID?, owner: Owner?, payload: EventPayload) {
        self.seq = seq
        self.time = time
        self.taskID = taskID
        self.owner = owner
        self.payload = payload
    }

    public var type: EventType { payload.type }
}

/// The types of durable events, as clients see them, in the order in which documents list them.
public enum EventType: String, Sendable, Codable, CaseIterable {
    case taskAdded = "task.added"
    case taskRestored = "task.restored"
    case taskStarted = "task.started"
    case taskResponse = "task.response"
    case taskRedirected = "task.redirected"
    case taskWaiting = "task.waiting"
    case taskPaused = "task.paused"
    case taskResumed = "task.resumed"
    case taskSourceChanged = "task.source_changed"
    case taskBytesDiscarded = "task.bytes_discarded"
    case taskWarning = "task.warning"
    case cacheHit = "cache.hit"
    case taskRefreshed = "task.refreshed"
    case taskNotModified = "task.not_modified"
    case taskStaged = "task.staged"
    case taskCompleted = "task.completed"
    case taskFailed = "task.failed"
    case taskCancelled = "task.cancelled"
    case taskSuperseded = "task.superseded"
    case taskRemoved = "task.removed"
    case batchCompleted = "batch.completed"
    case operationProgress = "operation.progress"
    case operationEnded = "operation.ended"
    case webhookDiscarded = "webhook.discarded"
    case queueIdle = "queue.idle"
    case activityChanged = "activity.changed"
    case networkChanged = "network.changed"
    case policyViolation = "policy.violation"
    case policyExpiring = "policy.expiring"
    case sessionInvalidated = "session.invalidated"
    case daemonStarted = "daemon.started"
    case daemonStopping = "daemon.stopping"

    /// True if the event ends a task's run.
    public var isTerminal: Bool {
        switch self {
        case .taskCompleted, .taskFailed, .taskCancelled, .taskSuperseded: true
        default: false
        }
    }
}

/// The data of an event besides its type. Stored as JSON by this type's `Codable` form: add cases and optional values,
/// never rename. `EventPayload+Wire` declares its form on the wire.
public enum EventPayload: Hashable, Sendable, Codable {
    /// The task's redacted URL and label at the time it was added.
    case taskAdded(url: String, label: String?, group: String?)
    /// A task that had a live attempt when the daemon stopped; `received` bytes are kept.
    case taskRestored(received: Int64)
    /// An attempt begins at this offset; `attempt` counts from 1 over the task's life.
    case taskStarted(attempt: Int, offset: Int64)
    case taskResponse(status: Int, total: Int64?, etag: String?, resumed: Bool)
    /// A nil decision is `followed`.
    case taskRedirected(status: Int, from: String, to: String, decision: RedirectDecision? = nil)
    case taskWaiting(wait: Wait, error: TransferError?)
    case taskPaused(received: Int64)
    case taskResumed
    /// The kept bytes were of another version and are discarded; `reason` is the evidence.
    case taskSourceChanged(reason: String, dropped: Int64)
    /// Kept bytes are discarded for a reason other than a new version of the source.
    case taskBytesDiscarded(reason: String, dropped: Int64)
    /// The response has an unexpected property, though the task may complete; `warning` is for people.
    case taskWarning(warning: String)
    /// The file is whole, verified and processed; `size` bytes wait for a commit.
    case taskStaged(size: Int64)
    /// `warning` is for people: the file is a web page, but its name does not suggest one.
    case taskCompleted(path: String?, size: Int64, skipped: Bool, notModified: Bool, warning: String? = nil)
    case taskFailed(error: TransferError)
    case taskCancelled
    /// Another task, `by`, has replaced it in its slot.
    case taskSuperseded(by: TaskID)
    case taskRemoved
    /// A cached response is used, or reported before a request is made: its age in seconds, if known, and whether it is
    /// fresh.
    case cacheHit(age: Int64?, fresh: Bool)
    /// After `cacheHit`: the server sent another response, which is used.
    case taskRefreshed
    /// After `cacheHit`: the server confirmed that the kept response is current.
    case taskNotModified
    /// The last member of a batch has ended; reported once per batch. `skipped` of the `finished` ones failed.
    case batchCompleted(batch: BatchID, total: Int64, finished: Int64, skipped: Int64)
    /// The progress of a background operation; at most once a second.
    case operationProgress(
        operation: OperationID, verb: OperationVerb, changed: Int64, unchanged: Int64, reached: TaskID, last: TaskID)
    /// A background operation has ended in this state.
    case operationEnded(
        operation: OperationID, verb: OperationVerb, state: OperationState, changed: Int64, unchanged: Int64,
        refused: Int64, error: String?)
    /// Events of the owner are no longer sent to webhooks, because `limit` bytes wait; reported once, until half of that
    /// is free again.
    case webhookDiscarded(limit: Int64)
    /// No task is queued, waiting for a timer or running any longer; counts of terminal tasks.
    case queueIdle(completed: Int64, failed: Int64)
    case activityChanged(active: Bool)
    /// The first one after `daemonStarted` reports the initial state.
    case networkChanged(state: NetworkState)
    /// A `report_only` policy would have refused the server.
    case policyViolation(failure: TrustFailure)
    /// The policy's pins will no longer be enforced after `expiresAt`; `days` is 30, 7 or 1, and 0 once it has
    /// happened.
    case policyExpiring(policy: String, version: Int64, expiresAt: Timestamp, days: Int)
    /// This version of the policy was edited or removed: its connections are closed, and the servers of running
    /// transfers are judged again.
    case sessionInvalidated(policy: String, version: Int64)
    case daemonStarted(version: String, queued: Int64, restored: Int64)
    case daemonStopping(mode: ShutdownMode)

    public var type: EventType {
        switch self {
        case .taskAdded: .taskAdded
        case .taskRestored: .taskRestored
        case .taskStarted: .taskStarted
        case .taskResponse: .taskResponse
        case .taskRedirected: .taskRedirected
        case .taskWaiting: .taskWaiting
        case .taskPaused: .taskPaused
        case .taskResumed: .taskResumed
        case .taskSourceChanged: .taskSourceChanged
        case .taskBytesDiscarded: .taskBytesDiscarded
        case .taskWarning: .taskWarning
        case .taskStaged: .taskStaged
        case .taskCompleted: .taskCompleted
        case .taskFailed: .taskFailed
        case .taskCancelled: .taskCancelled
        case .taskSuperseded: .taskSuperseded
        case .taskRemoved: .taskRemoved
        case .cacheHit: .cacheHit
        case .taskRefreshed: .taskRefreshed
        case .taskNotModified: .taskNotModified
        case .batchCompleted: .batchCompleted
        case .operationProgress: .operationProgress
        case .operationEnded: .operationEnded
        case .webhookDiscarded: .webhookDiscarded
        case .queueIdle: .queueIdle
        case .activityChanged: .activityChanged
        case .networkChanged: .networkChanged
        case .policyViolation: .policyViolation
        case .policyExpiring: .policyExpiring
        case .sessionInvalidated: .sessionInvalidated
        case .daemonStarted: .daemonStarted
        case .daemonStopping: .daemonStopping
        }
    }
}

/// The way in which the service shuts down.
public enum ShutdownMode: String, Sendable, Codable, CaseIterable {
    /// Finishes running tasks and refuses adds.
    case drain
    /// Checkpoints and stops; everything continues at the next start.
    case suspend
    /// Cancels every unfinished task.
    case cancel
}
