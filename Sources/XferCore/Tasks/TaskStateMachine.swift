public import XferModel

/// Every legal move of a task, as a value: events in, changed fields and an action out.
///
/// The caller commits `task` and the transition's event in one transaction, then runs the action. Commands a state
/// cannot obey are `unchanged`; moves only this program can ask for at the wrong time are programming errors with the
/// state in their message. Class of origin: AFURLSessionManager's task delegate, whose order of callbacks this fixes.
public struct TaskStateMachine: Sendable {
    /// The task as it is to be committed.
    public private(set) var task: TransferTask

    public init(_ task: TransferTask) { self.task = task }

    // MARK: Commands

    /// The user holds the task back. A run that is publishing has passed the point of no return: the caller must not ask.
    /// A running request that must not be made twice cannot be held back either: it could not go on later.
    public mutating func onPause() -> TaskTransition {
        switch task.state {
        case .queued, .waiting:
            move(to: .paused)
            return TaskTransition(event: .taskPaused(received: task.received))
        case .running:
            guard RepetitionRules.mayRepeat(task.specification) else { return .unchanged }
            move(to: .paused)
            uncountTry()
            return TaskTransition(event: .taskPaused(received: task.received), action: .stopAttempt)
        case .paused, .staged, .completed, .failed, .cancelled:
            return .unchanged
        }
    }

    /// The user lets the task go on; a task waiting for a retry, the network, its host or descriptors tries now, and so does
    /// a suspect.
    public mutating func onResume() -> TaskTransition {
        switch (task.state, task.wait?.reason) {
        case (.paused, _), (.waiting, .retry), (.waiting, .network), (.waiting, .hostCooldown), (.waiting, .suspect),
            (.waiting, .outOfDescriptors):
            move(to: .queued)
            task.lastProgressAt = nil
            return TaskTransition(event: .taskResumed, action: .schedule)
        default:
            return .unchanged
        }
    }

    /// The user gives the task up. Wins over a completion that has not been committed.
    public mutating func onCancel(at now: Timestamp) -> TaskTransition {
        switch task.state {
        case .queued, .waiting, .paused, .staged:
            end(.cancelled, at: now)
            return TaskTransition(event: .taskCancelled, action: .discardBytes)
        case .running:
            end(.cancelled, at: now)
            return TaskTransition(event: .taskCancelled, action: .stopAttemptAndDiscardBytes)
        case .completed, .failed, .cancelled:
            return .unchanged
        }
    }

    /// Another task of the same owner has joined its slot: as a cancel, told by an event of its own.
    public mutating func onSuperseded(by newcomer: TaskID, at now: Timestamp) -> TaskTransition {
        var transition = onCancel(at: now)
        if transition.isChange { transition.event = .taskSuperseded(by: newcomer) }
        return transition
    }

    /// The source can be reached again, under another URL: what waits for that goes on.
    public mutating func onNewSource() -> TaskTransition {
        guard task.state == .waiting, task.wait?.reason == .sourceExpired else { return .unchanged }
        move(to: .queued)
        task.attempts = 0
        task.lastProgressAt = nil
        return TaskTransition(event: .taskResumed, action: .schedule)
    }

    /// The user wants a failed task tried again as the same task, with the bytes it has. A suspect is tried again, too.
    ///
    /// A deadline that has passed no longer counts: it was known when the user asked for another try.
    public mutating func onRetry(at now: Timestamp) -> TaskTransition {
        if task.state == .waiting, task.wait?.reason == .suspect { return onResume() }
        guard task.state == .failed else { return .unchanged }
        move(to: .queued)
        if let deadline = task.specification.schedule.deadline, deadline <= now {
            task.specification.schedule.deadline = nil
        }
        task.error = nil
        task.attempts = 0
        task.lastProgressAt = nil
        task.finishedAt = nil
        return TaskTransition(event: .taskResumed, action: .schedule)
    }

    /// The user wants a terminal task forgotten, kept partial bytes included; a published file stays.
    public mutating func onRemove() -> TaskTransition {
        guard task.state.isTerminal else { return .unchanged }
        return TaskTransition(event: .taskRemoved, action: .forget)
    }

    // MARK: The service

    /// The scheduler picked the task.
    public mutating func onStart(at now: Timestamp) -> TaskTransition {
        require(.queued)
        move(to: .running)
        task.attempts += 1
        task.startedAt = task.startedAt ?? now
        task.lastProgressAt = task.lastProgressAt ?? now
        return TaskTransition(event: .taskStarted(attempt: task.attempts, offset: task.received), action: .startAttempt)
    }

    /// Bytes up to `received` are durable. No event: progress is not one.
    public mutating func onCheckpoint(received: Int64, total: Int64?, at now: Timestamp) {
        task.received = received
        task.total = total
        if received > task.furthest {
            task.furthest = received
            task.attempts = min(task.attempts, 1)
            task.lastProgressAt = now
        }
    }

    /// How far a request with its answer got, to be committed with the next transition; `sent` is what the server has.
    public mutating func onExchange(received: Int64, sent: Int64, total: Int64?) {
        task.received = received
        task.sent = sent
        task.total = total
    }

    /// The server has `sent` bytes of an upload and will keep them. No event: progress is not one.
    public mutating func onAcknowledged(sent: Int64, total: Int64, at now: Timestamp) {
        task.sent = sent
        task.total = total
        if sent > task.furthest {
            task.furthest = sent
            task.attempts = min(task.attempts, 1)
            task.lastProgressAt = now
        }
    }

    /// The source is another version: kept bytes are dropped. `furthest` stays, or a source that changes at every try
    /// would count as progress for ever.
    public mutating func onSourceChanged(reason: String) -> TaskTransition {
        let dropped = task.received
        task.received = 0
        task.total = nil
        return TaskTransition(event: .taskSourceChanged(reason: reason, dropped: dropped))
    }

    /// The attempt ended and another may succeed later. Only a failure that is retried uses up a try, not the lack of
    /// something that is waited for.
    public mutating func onWait(_ wait: Wait, error: TransferError?) -> TaskTransition {
        require(.running)
        move(to: .waiting)
        task.wait = wait
        task.error = error
        if wait.reason != .retry {
            uncountTry()
            task.lastProgressAt = nil
        }
        return TaskTransition(event: .taskWaiting(wait: wait, error: error), action: .schedule)
    }

    /// A wait is over: its time came or its cause went away. If the service did not run at that time, because the
    /// machine was off, say, the delay does not count against `retry_for`.
    public mutating func onWaitOver(at now: Timestamp) -> TaskTransition {
        guard task.state == .waiting else { return .unchanged }
        if let due = task.wait?.until, due < now {
            task.lastProgressAt = task.lastProgressAt?.advanced(by: due.duration(to: now))
        }
        move(to: .queued)
        return TaskTransition(event: nil, action: .schedule)
    }

    /// The daemon crashed again and again while the task was in flight: it starts no more by itself. What the user holds
    /// back stays so.
    public mutating func onSuspect(_ error: TransferError) -> TaskTransition {
        guard task.state == .queued || task.state == .waiting, task.wait?.reason != .suspect else { return .unchanged }
        move(to: .waiting)
        task.wait = Wait(.suspect)
        task.error = error
        task.lastProgressAt = nil
        return TaskTransition(event: .taskWaiting(wait: Wait(.suspect), error: error))
    }

    /// A condition of the task's own does not hold, or no longer does: its window has closed, or the link costs money. What
    /// runs stops at its checkpoint; that is no try.
    public mutating func onHold(_ wait: Wait) -> TaskTransition {
        let isRunning = task.state == .running
        switch (task.state, task.wait?.reason) {
        case (.waiting, .schedule), (.waiting, .dependency):
            guard task.wait != wait else { return .unchanged }
        case (.queued, _), (.running, _):
            break
        default:
            return .unchanged
        }
        if isRunning {
            guard RepetitionRules.mayRepeat(task.specification) else { return .unchanged }
            uncountTry()
        }
        move(to: .waiting)
        task.wait = wait
        task.lastProgressAt = nil
        return TaskTransition(
            event: .taskWaiting(wait: wait, error: nil), action: isRunning ? .stopAttempt : .none)
    }

    /// The task's own conditions hold: what waits for them goes on.
    public mutating func onConditionsMet() -> TaskTransition {
        guard task.state == .waiting, [.schedule, .dependency].contains(task.wait?.reason) else { return .unchanged }
        move(to: .queued)
        return TaskTransition(event: nil, action: .schedule)
    }

    /// The task's own conditions can no longer be met: its deadline has passed, say. One that is staged has done its part.
    public mutating func onConditionsFailed(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        let isRunning = task.state == .running
        switch task.state {
        case .queued, .waiting, .paused, .running: break
        case .staged, .completed, .failed, .cancelled: return .unchanged
        }
        end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error), action: isRunning ? .stopAttempt : .schedule)
    }

    /// The attempt has to be made again at once (another trust policy): back to the queue. It does not count as a try.
    public mutating func onRequeue() -> TaskTransition {
        require(.running)
        move(to: .queued)
        uncountTry()
        return TaskTransition(event: nil, action: .schedule)
    }

    /// The daemon starts and finds the task as the last process left it. A request that must not be sent twice may have
    /// been sent: such a task fails.
    ///
    /// - Parameter canContinue: false for an upload that may have begun and that cannot be continued.
    public mutating func onRestore(at now: Timestamp, canContinue: Bool = true) -> TaskTransition {
        require(.running)
        guard canContinue, RepetitionRules.mayRepeat(task.specification) else {
            return onFail(RepetitionRules.outcomeUnknown(after: nil, of: task.specification.request), at: now)
        }
        move(to: .queued)
        uncountTry()
        return TaskTransition(event: .taskRestored(received: task.received), action: .schedule)
    }

    /// The file is published, skipped or was current; the content is sent; the response is kept. `size` is what was
    /// transferred in the task's direction, in bytes.
    public mutating func onComplete(size: Int64, at now: Timestamp) -> TaskTransition {
        require(.running)
        end(.completed, at: now)
        task.error = nil
        if task.specification.kind == .upload { task.sent = size } else { task.received = size }
        task.total = size
        let outcome = task.outcome
        return TaskTransition(
            event: .taskCompleted(
                path: outcome.finalPath, size: size, skipped: outcome.skipped, notModified: outcome.notModified),
            action: .schedule)
    }

    /// Every byte is there and right, and the client says when the file appears. `size` is the file's length in bytes.
    public mutating func onStage(size: Int64) -> TaskTransition {
        require(.running)
        move(to: .staged)
        task.error = nil
        task.received = size
        task.total = size
        return TaskTransition(event: .taskStaged(size: size), action: .schedule)
    }

    /// A staged file has its final name, or `on_conflict` says that it needs none.
    public mutating func onCommit(size: Int64, at now: Timestamp) -> TaskTransition {
        guard task.state == .staged else { return .unchanged }
        end(.completed, at: now)
        task.received = size
        task.total = size
        let outcome = task.outcome
        return TaskTransition(
            event: .taskCompleted(path: outcome.finalPath, size: size, skipped: outcome.skipped, notModified: false))
    }

    /// The last try failed, or the failure is permanent.
    public mutating func onFail(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        precondition(
            task.state == .running || task.state == .waiting, "a task that is \(task.state) cannot fail")
        end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error), action: .schedule)
    }

    /// The task was just added, and its URL is known to be bad: it ends before it begins.
    public mutating func onBlocked(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        precondition(
            task.state == .queued || task.state == .paused, "a task that is \(task.state) was not just added")
        end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error))
    }

    /// Sets facts about the response and the published file, to be committed with the next transition.
    public mutating func note(_ change: (inout TaskOutcome) -> Void) {
        change(&task.outcome)
    }

    /// The task takes its bytes from this transfer from now on.
    public mutating func subscribe(to transfer: TransferID) { task.transferID = transfer }

    /// The task joins a transfer that has bytes already: no progress of the task's own.
    public mutating func onJoin(received: Int64, total: Int64?) {
        task.received = received
        task.total = total
    }

    /// The task needs its transfer no more.
    public mutating func unsubscribe() { task.transferID = nil }

    /// What was asked for is changed.
    public mutating func respecify(_ change: (inout TaskSpecification) -> Void) { change(&task.specification) }

    /// Sets the key under which the task may share a transfer from now on.
    public mutating func coalesce(under key: [UInt8]?) { task.coalesceKey = key }

    /// Kept bytes are given up because nothing can continue them, not because the source changed.
    public mutating func onBytesLost() {
        task.received = 0
        task.total = nil
    }

    // MARK: Moving

    /// The start that was counted came to no failure: it does not use up a try.
    private mutating func uncountTry() { task.attempts = max(0, task.attempts - 1) }

    private mutating func move(to state: TaskState) {
        task.state = state
        task.wait = nil
    }

    private mutating func end(_ state: TaskState, at now: Timestamp) {
        move(to: state)
        task.finishedAt = now
    }

    private func require(_ state: TaskState) {
        precondition(task.state == state, "task \(task.id) is \(task.state), not \(state)")
    }
}

/// What one move of a task asks for.
public struct TaskTransition: Hashable, Sendable {
    /// Committed with the task; nil when clients need not know.
    public var event: EventPayload?
    /// Run after the commit.
    public var action: TaskAction
    /// Whether the state moved: false makes a verb report `unchanged`.
    public var isChange: Bool

    public init(event: EventPayload?, action: TaskAction = .none) {
        self.event = event
        self.action = action
        isChange = true
    }

    private init() {
        event = nil
        action = .none
        isChange = false
    }

    /// The state cannot obey, or is already what was asked for.
    public static let unchanged = TaskTransition()
}

/// An effect a transition asks for.
public enum TaskAction: Hashable, Sendable {
    case none
    /// Something may be startable now.
    case schedule
    case startAttempt
    /// Stop at the next safe point and keep the bytes.
    case stopAttempt
    case stopAttemptAndDiscardBytes
    /// Delete partial and staged bytes of a task that has no attempt.
    case discardBytes
    /// Delete kept bytes and the row.
    case forget
}
