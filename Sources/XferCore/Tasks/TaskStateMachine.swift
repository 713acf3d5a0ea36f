public import XferModel

/// Every legal transition of a task, as a value: it accepts events, and returns the changed fields and an action.
///
/// The caller commits `task` and the transition's event in one transaction, then runs the action. A command that the
/// state does not allow is `unchanged`. An internal event in the wrong state is a programming error with the state in
/// its message. Class of origin: AFURLSessionManager's task delegate, whose order of callbacks this fixes.
public struct TaskStateMachine: Sendable {
    /// The task to commit.
    public private(set) var task: TransferTask

    public init(_ task: TransferTask) { self.task = task }

    // MARK: Commands

    /// Applies the user's pause. The caller must not call it while a run is publishing, which cannot be undone. A
    /// running request that must not be made twice cannot be paused either: it could not continue later.
    public mutating func onPause() -> TaskTransition {
        switch task.state {
        case .queued, .waiting:
            task.move(to: .paused)
            return TaskTransition(event: .taskPaused(received: task.received))
        case .running:
            guard RepetitionRules.mayRepeat(task.specification) else { return .unchanged }
            task.move(to: .paused)
            task.uncountAttempt()
            return TaskTransition(event: .taskPaused(received: task.received), action: .stopAttempt)
        case .paused, .staged, .completed, .failed, .cancelled:
            return .unchanged
        }
    }

    /// Applies the user's resume. A waiting task starts now, unless it waits for one of its own
    /// conditions (`WaitReason.isStartCondition`).
    public mutating func onResume() -> TaskTransition {
        switch (task.state, task.wait?.reason) {
        case (.paused, _): break
        case (.waiting, let reason) where reason?.isStartCondition != true: break
        default: return .unchanged
        }
        task.move(to: .queued)
        task.lastProgressAt = nil
        return TaskTransition(event: .taskResumed, action: .schedule)
    }

    /// Applies the user's cancellation. It takes precedence over a completion that has not been committed.
    public mutating func onCancel(at now: Timestamp) -> TaskTransition {
        switch task.state {
        case .queued, .waiting, .paused, .staged:
            task.end(.cancelled, at: now)
            return TaskTransition(event: .taskCancelled, action: .discardBytes)
        case .running:
            task.end(.cancelled, at: now)
            return TaskTransition(event: .taskCancelled, action: .stopAttemptAndDiscardBytes)
        case .completed, .failed, .cancelled:
            return .unchanged
        }
    }

    /// Cancels the task because another task of the same owner has joined its slot; it has an event of its own.
    public mutating func onSuperseded(by newcomer: TaskID, at now: Timestamp) -> TaskTransition {
        var transition = onCancel(at: now)
        if transition.isChange { transition.event = .taskSuperseded(by: newcomer) }
        return transition
    }

    /// Called when the task's source has another URL: a task that waits because of the previous URL, or has failed,
    /// continues.
    public mutating func onNewSource(at now: Timestamp) -> TaskTransition {
        if task.state == .failed { return onRetry(at: now) }
        task.error?.doubts = nil
        guard task.state == .waiting, task.wait?.reason.isAboutSource == true else { return .unchanged }
        task.move(to: .queued)
        task.attempts = 0
        task.lastProgressAt = nil
        return TaskTransition(event: .taskResumed, action: .schedule)
    }

    /// Called when the task has another directory, or another disk under its name: a task that waits because of the
    /// previous one starts, and finds out about the new one.
    public mutating func onNewDirectory() -> TaskTransition {
        guard task.state == .waiting, task.wait?.reason.isAboutDirectory == true else { return .unchanged }
        task.move(to: .queued)
        task.error = nil
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Applies the user's retry of a failed task as the same task, with the bytes it has, or of a cancelled one from
    /// its first byte. It also retries a suspect, and a task that waits for another source. A cancelled task whose
    /// source was copied into the spool has no content to send.
    ///
    /// A deadline that has passed is removed: the user knows it and wants another attempt.
    public mutating func onRetry(at now: Timestamp) -> TaskTransition {
        if task.state == .waiting, [.suspect, .sourceExpired].contains(task.wait?.reason) { return onResume() }
        guard task.state == .failed || task.state == .cancelled && !task.specification.upload.isSpooled else {
            return .unchanged
        }
        if task.state == .cancelled { task.forgetTransfer() }
        task.move(to: .queued)
        if let deadline = task.specification.schedule.deadline, deadline <= now {
            task.specification.schedule.deadline = nil
        }
        task.error = nil
        task.attempts = 0
        task.lastProgressAt = nil
        task.finishedAt = nil
        return TaskTransition(event: .taskResumed, action: .schedule)
    }

    /// Applies the user's removal of a terminal task and its kept partial bytes; a published file stays.
    public mutating func onRemove() -> TaskTransition {
        guard task.state.isTerminal else { return .unchanged }
        return TaskTransition(event: .taskRemoved, action: .forget)
    }

    // MARK: The service

    /// The scheduler picked the task.
    public mutating func onStart(at now: Timestamp) -> TaskTransition {
        require(.queued)
        task.move(to: .running)
        task.attempts += 1
        task.startedAt = task.startedAt ?? now
        task.lastProgressAt = task.lastProgressAt ?? now
        return TaskTransition(event: .taskStarted(attempt: task.attempts, offset: task.received), action: .startAttempt)
    }

    /// Records that the bytes up to `received` are durable. It causes no event. Progress ends the failure of an earlier
    /// attempt.
    public mutating func onCheckpoint(received: Int64, total: Int64?, at now: Timestamp) {
        task.received = received
        task.total = total
        if received > task.furthest {
            task.furthest = received
            // A waiting task's error says what it waits for.
            guard task.state != .waiting else { return }
            task.error = nil
            task.attempts = min(task.attempts, 1)
            task.lastProgressAt = now
        }
    }

    /// Records the progress of a request and its answer, to be committed with the next transition; `sent` is the number
    /// of bytes that the server has.
    public mutating func onExchange(received: Int64, sent: Int64, total: Int64?) {
        task.received = received
        task.sent = sent
        task.total = total
    }

    /// Records that the server has `sent` bytes of an upload and will keep them. It causes no event.
    public mutating func onAcknowledged(sent: Int64, total: Int64, at now: Timestamp) {
        task.sent = sent
        task.total = total
        if sent > task.furthest {
            task.furthest = sent
            task.error = nil
            task.attempts = min(task.attempts, 1)
            task.lastProgressAt = now
        }
    }

    /// Records that the source has another version: kept bytes are discarded. `furthest` stays; otherwise a source that
    /// changes at every attempt would count as progress each time.
    public mutating func onSourceChanged(reason: String) -> TaskTransition {
        let dropped = task.received
        task.received = 0
        task.total = nil
        return TaskTransition(event: .taskSourceChanged(reason: reason, dropped: dropped))
    }

    /// Called when the attempt has ended and another may succeed later. Only a failure that is retried uses up an
    /// attempt; waiting for a missing resource does not.
    public mutating func onWait(_ wait: Wait, error: TransferError?) -> TaskTransition {
        require(.running)
        task.move(to: .waiting)
        var reported = wait
        if wait.reason.isForResource, let error, task.error?.reason == error.reason { reported.isRepeated = true }
        task.wait = wait
        task.error = error
        if wait.reason != .retry {
            task.uncountAttempt()
            task.lastProgressAt = nil
        }
        return TaskTransition(event: .taskWaiting(wait: reported, error: error), action: .schedule)
    }

    /// Called when a wait for room is due: the task goes on waiting until the next check, and starts if this one finds
    /// room. `unchanged` if only a run can find out. It causes no event.
    public mutating func onSpaceCheck(at now: Timestamp, _ policy: RetryPolicy) -> TaskTransition {
        guard task.state == .waiting, task.wait?.reason == .insufficientSpace, var space = task.error?.space,
            space.directory != nil
        else { return .unchanged }
        space.checks = max(0, space.checks).addingSaturated(1)
        task.error?.space = space
        task.wait?.until = now.advanced(by: SpaceWaitRules.delay(afterCheck: space, policy))
        return TaskTransition(event: nil)
    }

    /// Called when there is room for a task that waits for it; the failure stays until there is progress.
    public mutating func onRoom(at now: Timestamp) -> TaskTransition {
        guard task.state == .waiting, task.wait?.reason == .insufficientSpace else { return .unchanged }
        task.move(to: .queued)
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Ends a wait: its time has passed, or its cause has ended. If the service did not run at that time, for example
    /// because the machine was off, the delay does not count against `retry_for`.
    public mutating func onWaitOver(at now: Timestamp) -> TaskTransition {
        guard task.state == .waiting else { return .unchanged }
        if let due = task.wait?.until, due < now {
            task.lastProgressAt = task.lastProgressAt?.advanced(by: due.duration(to: now))
        }
        task.move(to: .queued)
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Called when the host sends fewer files at the same time than when it refused the task: the task repeats its
    /// request. The refusals so far do not count.
    public mutating func onRoomAtHost() -> TaskTransition {
        guard Refusal.waitsForRoom(task) else { return .unchanged }
        task.move(to: .queued)
        task.attempts = 0
        task.error?.doubts = nil
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Records that the daemon crashed repeatedly while the task was in flight: the task no longer starts by itself. A
    /// paused task stays paused.
    public mutating func onSuspect(_ error: TransferError) -> TaskTransition {
        guard task.state == .queued || task.state == .waiting, task.wait?.reason != .suspect else { return .unchanged }
        task.move(to: .waiting)
        task.wait = Wait(.suspect)
        task.error = error
        task.lastProgressAt = nil
        return TaskTransition(event: .taskWaiting(wait: Wait(.suspect), error: error))
    }

    /// Records that a condition of the task is not met or no longer met: its window has closed, or the link is metered.
    /// A running task stops at its checkpoint; that does not count as an attempt.
    public mutating func onBlocked(_ wait: Wait) -> TaskTransition {
        let isRunning = task.state == .running
        switch (task.state, task.wait?.reason) {
        case (.waiting, let reason?) where reason.isStartCondition:
            guard task.wait != wait else { return .unchanged }
        case (.queued, _), (.running, _):
            break
        default:
            return .unchanged
        }
        if isRunning {
            guard RepetitionRules.mayRepeat(task.specification) else { return .unchanged }
            task.uncountAttempt()
        }
        task.move(to: .waiting)
        task.wait = wait
        task.lastProgressAt = nil
        return TaskTransition(
            event: .taskWaiting(wait: wait, error: nil), action: isRunning ? .stopAttempt : .none)
    }

    /// Records that the task's conditions are met: a task that waits for them continues.
    public mutating func onConditionsMet() -> TaskTransition {
        guard task.state == .waiting, task.wait?.reason.isStartCondition == true else { return .unchanged }
        task.move(to: .queued)
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Called when the task's conditions can no longer be met, for example because its deadline has passed. A staged
    /// task is not affected, since its transfer is done.
    public mutating func onConditionsFailed(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        let isRunning = task.state == .running
        switch task.state {
        case .queued, .waiting, .paused, .running: break
        case .staged, .completed, .failed, .cancelled: return .unchanged
        }
        task.end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error), action: isRunning ? .stopAttempt : .schedule)
    }

    /// Returns the task to the queue, because the attempt has to be repeated at once, for example under another trust
    /// policy. It does not count as an attempt.
    public mutating func onRequeue() -> TaskTransition {
        require(.running)
        task.move(to: .queued)
        task.uncountAttempt()
        return TaskTransition(event: nil, action: .schedule)
    }

    /// Restores the task as the last process left it. It fails if its request must not be sent twice and may have been
    /// sent.
    ///
    /// - Parameter canContinue: false for an upload that may have begun and that cannot be continued.
    public mutating func onRestore(at now: Timestamp, canContinue: Bool = true) -> TaskTransition {
        require(.running)
        guard canContinue, RepetitionRules.mayRepeat(task.specification) else {
            return onFail(RepetitionRules.outcomeUnknown(after: nil, of: task.specification.request), at: now)
        }
        task.move(to: .queued)
        task.uncountAttempt()
        return TaskTransition(event: .taskRestored(received: task.received), action: .schedule)
    }

    /// Completes the task: the file is published, skipped or was current; the content is sent; the response is stored.
    /// `size` is the number of bytes transferred in the task's direction.
    public mutating func onComplete(size: Int64, at now: Timestamp) -> TaskTransition {
        require(.running)
        task.end(.completed, at: now)
        task.error = nil
        if task.specification.kind == .upload { task.sent = size } else { task.received = size }
        task.total = size
        let outcome = task.outcome
        return TaskTransition(
            event: .taskCompleted(
                path: outcome.finalPath, size: size, skipped: outcome.skipped, notModified: outcome.notModified,
                warning: task.warning),
            action: .schedule)
    }

    /// Stages the task: every byte is received and verified, and the file waits for `task.commit`. `size` is the file's
    /// length in bytes.
    public mutating func onStage(size: Int64) -> TaskTransition {
        require(.running)
        task.move(to: .staged)
        task.error = nil
        task.received = size
        task.total = size
        return TaskTransition(event: .taskStaged(size: size), action: .schedule)
    }

    /// Called when a staged file is published, or `on_conflict` skips it.
    public mutating func onCommit(size: Int64, at now: Timestamp) -> TaskTransition {
        guard task.state == .staged else { return .unchanged }
        task.end(.completed, at: now)
        task.received = size
        task.total = size
        let outcome = task.outcome
        return TaskTransition(
            event: .taskCompleted(
                path: outcome.finalPath, size: size, skipped: outcome.skipped, notModified: false,
                warning: task.warning))
    }

    /// Records that the last attempt failed, or that the failure is permanent.
    public mutating func onFail(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        precondition(
            task.state == .running || task.state == .waiting, "a task that is \(task.state) cannot fail")
        task.end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error), action: .schedule)
    }

    /// Called when the task was just added, and its URL is on the list of failed URLs: it fails without a request.
    public mutating func onBlocked(_ error: TransferError, at now: Timestamp) -> TaskTransition {
        precondition(
            task.state == .queued || task.state == .paused, "a task that is \(task.state) was not just added")
        task.end(.failed, at: now)
        task.error = error
        return TaskTransition(event: .taskFailed(error: error))
    }

    /// Sets facts about the response and the published file, to be committed with the next transition.
    public mutating func setOutcome(_ change: (inout TaskOutcome) -> Void) {
        change(&task.outcome)
    }

    /// The task uses this transfer from now on.
    public mutating func subscribe(to transfer: TransferID) { task.transferID = transfer }

    /// Called when the task joins a transfer that has bytes already; they do not count as its own progress.
    public mutating func onJoin(received: Int64, total: Int64?) {
        task.received = received
        task.total = total
    }

    /// Detaches the task from its transfer, which it no longer needs.
    public mutating func unsubscribe() { task.transferID = nil }

    /// Changes the task's specification.
    public mutating func respecify(_ change: (inout TaskSpecification) -> Void) { change(&task.specification) }

    /// Sets the key under which the task may share a transfer from now on.
    public mutating func coalesce(under key: [UInt8]?) { task.coalesceKey = key }

    /// Discards kept bytes because they cannot be used, not because the source changed. The transition has an event if
    /// there were any.
    public mutating func onBytesDiscarded(reason: String) -> TaskTransition {
        let dropped = task.received
        task.forgetBytes()
        return TaskTransition(event: dropped > 0 ? .taskBytesDiscarded(reason: reason, dropped: dropped) : nil)
    }

    private func require(_ state: TaskState) {
        precondition(task.state == state, "task \(task.id) is \(task.state), not \(state)")
    }
}
