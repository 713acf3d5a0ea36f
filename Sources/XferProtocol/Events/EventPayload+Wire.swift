import XferModel

/// The declaration of each type of durable event: its summary, then its fields in the order in which they are written.
extension EventPayload: EventContent {
    func declare<Declaration: EventDeclaration>(in event: inout Declaration) {
        switch self {
        case .taskAdded(let url, let label, let group):
            event.summary("A task was added.")
            event.required("url", url, "The URL; secrets in it are ***.")
            event.optional("label", label, "Its label.")
            event.optional("group", group, "Its group.")
        case .taskRestored(let received):
            event.summary("A task that was running when the daemon stopped continues.")
            event.required("received", received, "Bytes that were kept.")
        case .taskStarted(let attempt, let offset):
            event.summary("An attempt began.")
            event.required("attempt", attempt, "Number of the attempt, from 1 over the task's life.")
            event.required("offset", offset, "Bytes kept from earlier attempts.")
        case .taskResponse(let status, let total, let etag, let resumed):
            event.summary("The server answered.")
            event.required("status", status, "The answer's status.")
            event.nullable("total", total, "Complete length in bytes; null while unknown.")
            event.optional("etag", etag, "The source's entity tag.")
            event.required("resumed", resumed, "True if kept bytes are continued.")
        case .taskRedirected(let status, let from, let to, let decision):
            event.summary("A redirect was followed or refused, or an http URL was replaced by https.")
            event.required("status", status, "The redirect's status; 307 where no server redirected.")
            event.required("from", from, "URL that redirects; secrets in it are ***.")
            event.required("to", to, "Target of the redirect; secrets in it are ***.")
            event.optional(
                "decision", decision.map { OpenEnum($0) },
                "Absent where it was followed; refused; delivered: its response is the result; upgraded: the host has "
                    + "demanded https, and the http URL is not requested.")
        case .taskWaiting(let wait, let error):
            event.summary("A task cannot start or continue now; nothing is lost.")
            event.required("wait", WaitRecord(wait), "Reason of the wait.")
            event.optional("error", error.map { FailureRecord($0) }, "The failure that caused the wait.")
        case .taskPaused(let received):
            event.summary("A task was paused.")
            event.required(
                "received", received,
                "Bytes that were committed by then; later bytes are kept as well, and task.get shows them.")
        case .taskResumed:
            event.summary("A paused task is queued again.")
        case .taskSourceChanged(let reason, let dropped):
            event.summary(
                "The kept bytes belong to another version of the source and are discarded; the task starts over.")
            event.required("reason", reason, "Evidence of the change.")
            event.required("dropped", dropped, "Bytes that were discarded.")
        case .taskBytesDiscarded(let reason, let dropped):
            event.summary(
                "Received bytes are discarded for a reason other than a new version of the source, or sent ones were lost "
                    + "by the server; they are transferred again if the task continues.")
            event.required("reason", reason, "Reason why they cannot be used.")
            event.required("dropped", dropped, "Bytes that were discarded.")
        case .taskWarning(let warning):
            event.summary("The response has an unexpected property; the task continues.")
            event.required("warning", warning, "The unexpected property, in English.")
        case .cacheHit(let age, let fresh):
            event.summary(
                "A cached response is used. With cache_policy revalidate it is reported before the request is made: "
                    + "task.result of a data task returns it at once.")
            event.nullable(
                "age", age, "Seconds since the server made or confirmed it; null when the clock was set back.")
            event.required("fresh", fresh, "True if it may be used without a request (RFC 9111 section 4.2).")
        case .taskRefreshed:
            event.summary("After cache.hit: the server sent another response, and the task uses it.")
        case .taskNotModified:
            event.summary("After cache.hit: the server confirms the cached response, and the task uses it.")
        case .taskStaged(let size):
            event.summary(
                "A download is complete, verified and processed, and waits for task.commit or task.cancel. It is not "
                    + "terminal: one of task.completed, task.cancelled and task.superseded follows.")
            event.required("state", TaskState.staged, "State of the task.")
            event.required("size", size, "The file's length in bytes.")
        case .taskCompleted(let path, let size, let skipped, let notModified, let warning):
            event.summary("A task has completed: its file is complete, verified, durable and under its final name.")
            event.end(in: .completed)
            event.optional("path", path, "Absolute path of the file.")
            event.required("size", size, "Its length in bytes.")
            event.optional(
                "skipped", skipped ? true : nil, "True if the name was taken and on_conflict is skip or verify.")
            event.optional(
                "not_modified", notModified ? true : nil, "True if on_conflict is update and the file was current.")
            event.optional(
                "warning", warning,
                "Warning about the file, in English, as in the task's record: it is a web page, but its name does not "
                    + "suggest one.")
        case .taskFailed(let error):
            event.summary("A task has failed; task.retry continues it with the bytes it kept.")
            event.end(in: .failed)
            event.required("error", FailureRecord(error), "Why.")
        case .taskCancelled:
            event.summary("A task was cancelled; its partial bytes are deleted.")
            event.end(in: .cancelled)
        case .taskSuperseded(let by):
            event.summary(
                "The task is cancelled because another took its slot; its partial bytes are deleted. No task.cancelled "
                    + "follows.")
            event.end(in: .cancelled)
            event.required("by", by, "The task that occupies the slot now.")
        case .taskRemoved:
            event.summary("A task was removed.")
        case .batchCompleted(let batch, let total, let finished, let skipped):
            event.summary(
                "The last member of a batch has ended. Sent once per batch, even if members are retried or removed later."
            )
            event.required("batch", batch, "The batch.")
            event.required("total", total, "Number of members when the batch was added.")
            event.required("finished", finished, "Members that have ended: all of them.")
            event.required("failed", skipped, "Number of members that failed.")
            event.required("skipped", skipped, "The same number as failed, under its name before 1.0.0.")
        case .operationProgress(let operation, let verb, let changed, let unchanged, let reached, let last):
            event.summary("Progress of a background operation; at most once a second.")
            event.required("operation", operation, "The operation.")
            event.required("verb", verb, "The verb that is applied to each task.")
            event.required("changed_count", changed, "Tasks that changed so far.")
            event.required("unchanged_count", unchanged, "Tasks that did not change.")
            event.required("reached", reached, "The operation has processed the tasks with ids up to this one.")
            event.required("last", last, "The newest task at the time of the call, with which the operation ends.")
        case .operationEnded(let operation, let verb, let state, let changed, let unchanged, let refused, let error):
            event.summary("A background operation has ended; operation.get gives its result.")
            event.required("operation", operation, "The operation.")
            event.required("verb", verb, "The verb that was applied to each task.")
            event.required("state", state, "completed, failed or cancelled.")
            event.required("changed_count", changed, "Tasks that changed.")
            event.required("unchanged_count", unchanged, "Tasks that did not change.")
            event.required("refused_count", refused, "Tasks for which the verb failed.")
            event.optional("error", error, "Reason of the failure, in English.")
        case .webhookDiscarded(let limit):
            event.summary(
                "Events of a user are not sent to webhooks, because too many are waiting. Reported once, until half of the "
                    + "limit is free again; no webhook gets this event.")
            event.required("limit", limit, "Bytes of the user's events that may wait (access.max_undelivered).")
        case .queueIdle(let completed, let failed):
            event.summary("No task is queued, waiting for a time, or running.")
            event.required("completed", completed, "Tasks that are completed.")
            event.required("failed", failed, "Tasks that have failed.")
        case .activityChanged(let active):
            event.summary("Transfers began or ended, debounced.")
            event.required("active", active, "True if transfers run.")
        case .networkChanged(let state):
            event.summary(
                "The network has changed; the first event after daemon.started reports the state at the start. See network.status."
            )
            event.required("network", state, "Present state.")
        case .policyViolation(let failure):
            event.summary("A report_only trust policy would have refused a server; the connection was used.")
            event.required("policy", failure.policy, "The policy's name.")
            event.required("version", failure.policyVersion, "Its version.")
            event.required("host", failure.host, "The server's host.")
            event.required("port", Int(clamping: failure.port), "The server's port.")
            event.required(
                "reason", failure.reason.rawValue,
                "pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected.")
            event.required("problem", failure.problem, "Description of the failure.")
            event.optional(
                "verify_error", failure.code == 0 ? nil : Int(clamping: failure.code),
                "OpenSSL's X509_V_ERR code, if a chain is at fault.")
            event.required(
                "chain", failure.chain.map { ShownCertificateRecord($0) },
                "Certificates that the server sent, leaf first.")
        case .policyExpiring(let policy, let version, let expiresAt, let days):
            event.summary(
                "A trust policy's pins will no longer be enforced after its expires_at; reported 30, 7 and 1 days before, "
                    + "and at that time.")
            event.required("policy", policy, "The policy's name.")
            event.required("version", version, "Its version.")
            event.required("expires_at", expiresAt, "Time from which the ordinary check applies.")
            event.required("days", days, "30, 7 or 1 days before; 0 when it has expired.")
        case .sessionInvalidated(let policy, let version):
            event.summary(
                "A trust policy was edited or removed: connections judged by that version are closed, and the tasks "
                    + "that used them stop at the next safe point and are judged again.")
            event.required("policy", policy, "The policy's name.")
            event.required("version", version, "The version that is no longer in force.")
        case .daemonStarted(let version, let queued, let restored):
            event.summary("The daemon started.")
            event.required("version", version, "Its version.")
            event.required("queued", queued, "Tasks that are queued.")
            event.required("restored", restored, "Tasks that were running when it stopped.")
        case .daemonStopping(let mode):
            event.summary("The daemon is stopping.")
            event.required("mode", mode, "Treatment of unfinished tasks.")
        }
    }

    /// A payload of the type: its schema follows from the declaration of any.
    static func example(of type: EventType) -> EventPayload {
        switch type {
        case .taskAdded: .taskAdded(url: "https://example.org/a", label: nil, group: nil)
        case .taskRestored: .taskRestored(received: 0)
        case .taskStarted: .taskStarted(attempt: 1, offset: 0)
        case .taskResponse: .taskResponse(status: 200, total: nil, etag: nil, resumed: false)
        case .taskRedirected: .taskRedirected(status: 302, from: "https://a.test/", to: "https://b.test/")
        case .taskWaiting: .taskWaiting(wait: Wait(.retry), error: nil)
        case .taskPaused: .taskPaused(received: 0)
        case .taskResumed: .taskResumed
        case .taskSourceChanged: .taskSourceChanged(reason: "etag", dropped: 0)
        case .taskBytesDiscarded: .taskBytesDiscarded(reason: "the partial file was removed", dropped: 0)
        case .taskWarning: .taskWarning(warning: "the server sent a web page (text/html) as a.iso")
        case .cacheHit: .cacheHit(age: nil, fresh: true)
        case .taskRefreshed: .taskRefreshed
        case .taskNotModified: .taskNotModified
        case .taskStaged: .taskStaged(size: 0)
        case .taskCompleted: .taskCompleted(path: nil, size: 0, skipped: false, notModified: false)
        case .taskFailed: .taskFailed(error: TransferError(.httpStatus, "404"))
        case .taskCancelled: .taskCancelled
        case .taskSuperseded: .taskSuperseded(by: TaskID(1))
        case .taskRemoved: .taskRemoved
        case .batchCompleted: .batchCompleted(batch: BatchID(1), total: 0, finished: 0, skipped: 0)
        case .operationProgress:
            .operationProgress(
                operation: OperationID(1), verb: .pause, changed: 0, unchanged: 0, reached: TaskID(1), last: TaskID(2))
        case .operationEnded:
            .operationEnded(
                operation: OperationID(1), verb: .pause, state: .completed, changed: 0, unchanged: 0, refused: 0,
                error: nil)
        case .webhookDiscarded: .webhookDiscarded(limit: 16_777_216)
        case .queueIdle: .queueIdle(completed: 0, failed: 0)
        case .activityChanged: .activityChanged(active: true)
        case .networkChanged: .networkChanged(state: .unknown)
        case .policyViolation:
            .policyViolation(
                failure: TrustFailure(
                    reason: .pinMismatch, host: "a.test", port: 443, policy: "p", policyVersion: 1, code: 0,
                    problem: "no pin matches", chain: []))
        case .policyExpiring: .policyExpiring(policy: "p", version: 1, expiresAt: Timestamp(seconds: 0), days: 0)
        case .sessionInvalidated: .sessionInvalidated(policy: "p", version: 1)
        case .daemonStarted: .daemonStarted(version: "1", queued: 0, restored: 0)
        case .daemonStopping: .daemonStopping(mode: .suspend)
        }
    }
}
