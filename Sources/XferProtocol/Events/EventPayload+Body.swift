import StrictJSON
import XferModel

extension EventPayload {
    /// What the payload adds to the envelope on the wire.
    var body: JSONObject { EventMessage.members(of: wireEvent) }

    private var wireEvent: any WireEvent {
        switch self {
        case .taskAdded(let url, let label, let group): TaskAddedEvent(url: url, label: label, group: group)
        case .taskRestored(let received): TaskRestoredEvent(received: received)
        case .taskStarted(let attempt, let offset): TaskStartedEvent(attempt: attempt, offset: offset)
        case .taskResponse(let status, let total, let etag, let resumed):
            TaskResponseEvent(status: status, total: total, etag: etag, resumed: resumed)
        case .taskRedirected(let status, let from, let to): TaskRedirectedEvent(status: status, from: from, to: to)
        case .taskWaiting(let wait, let error): TaskWaitingEvent(wait: wait, error: error)
        case .taskPaused(let received): TaskPausedEvent(received: received)
        case .taskResumed: TaskResumedEvent()
        case .taskSourceChanged(let reason, let dropped): TaskSourceChangedEvent(reason: reason, dropped: dropped)
        case .taskStaged(let size): TaskStagedEvent(size: size)
        case .taskCompleted(let path, let size, let skipped, let notModified):
            TaskCompletedEvent(path: path, size: size, skipped: skipped, notModified: notModified)
        case .taskFailed(let error): TaskFailedEvent(error: error)
        case .taskCancelled: TaskCancelledEvent()
        case .taskSuperseded(let by): TaskSupersededEvent(by: by)
        case .taskRemoved: TaskRemovedEvent()
        case .cacheHit(let age, let fresh): CacheHitEvent(age: age, fresh: fresh)
        case .taskRefreshed: TaskRefreshedEvent()
        case .taskNotModified: TaskNotModifiedEvent()
        case .batchCompleted(let batch, let total, let finished, let skipped):
            BatchCompletedEvent(batch: batch, total: total, finished: finished, skipped: skipped)
        case .queueIdle(let completed, let failed): QueueIdleEvent(completed: completed, failed: failed)
        case .activityChanged(let active): ActivityChangedEvent(active: active)
        case .networkChanged(let state): NetworkChangedEvent(state)
        case .policyViolation(let failure): PolicyViolationEvent(failure)
        case .policyExpiring(let policy, let version, let expiresAt, let days):
            PolicyExpiringEvent(policy: policy, version: version, expiresAt: expiresAt, days: days)
        case .sessionInvalidated(let policy, let version): SessionInvalidatedEvent(policy: policy, version: version)
        case .daemonStarted(let version, let queued, let restored):
            DaemonStartedEvent(version: version, queued: queued, restored: restored)
        case .daemonStopping(let mode): DaemonStoppingEvent(mode: mode)
        }
    }
}
