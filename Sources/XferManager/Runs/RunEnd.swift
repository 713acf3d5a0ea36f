import XferModel
import XferStore

/// How a run ended. `StoreTransaction.end` derives the task's next state from it.
enum RunEnd: Sendable {
    /// The file has its final name and is durable; or nothing had to be published; or the response is kept.
    case completed(size: Int64)
    /// The file is whole, right and durable, the database says so, and the client decides when it is published.
    case staged(size: Int64)
    /// The attempt failed after its bytes were checkpointed.
    case failed(TransferError)
    /// The bytes were wrong and are dropped; another source is asked at once. This does not count as a try.
    case again
    /// The run was asked to stop, and its bytes are checkpointed.
    case stopped
    /// The database cannot be written. Nothing since the last commit counts.
    case storageFailed
    /// The task is no longer running in the database: it was cancelled or paused when there was no run that could be
    /// stopped.
    case overtaken
}

/// A run's end together with the facts committed with it.
struct RunResult: Sendable {
    var end: RunEnd
    /// The transfer that holds the run's bytes.
    var transferID: TransferID
    var outcome: TaskOutcome
    /// Whether the task is to get a transfer of its own with its next try.
    var leavesTransfer = false
    /// Events that are not committed yet, in order.
    var pendingEvents: [EventPayload]
    /// What was kept of the response, also of one that was refused.
    var keptResponse: KeptResponse?
    /// Whether the server may have begun to act on the request.
    var requestWasSent = false
    /// Whether a later try can go on from here.
    var isResumable = false
    /// Whether the partial file was lost or changed.
    var isPartLost = false
    /// The final counters.
    var progress: RunProgress

    /// Whether a file has its final name. A cancellation at the same time removes it again.
    var isPublished: Bool {
        guard case .completed = end else { return false }
        return !outcome.skipped && !outcome.notModified
    }
}
