import XferFiles
import XferModel
import XferStore

/// The end of a run. `StoreTransaction.recordRunEnd` derives the task's next state from it.
enum RunEnd: Sendable {
    /// The file has its final name and is durable; or nothing had to be published; or the response is kept.
    case completed(size: Int64)
    /// The file is complete, verified and durable, and the database records that. The client decides when it is
    /// published.
    case staged(size: Int64)
    /// The attempt failed after its bytes were checkpointed.
    case failed(TransferError)
    /// The bytes were wrong and are discarded. The task runs again at once with another source; this does not count as
    /// an attempt.
    case again
    /// The run stopped on request, and its bytes are checkpointed.
    case stopped
    /// The database cannot be written. Changes since the last commit are lost.
    case storageFailed
    /// The task is no longer running in the database: it was cancelled or paused when there was no run that could be
    /// stopped.
    case overtaken
}

/// A run's end together with the facts committed with it.
struct RunResult: Sendable {
    var end: RunEnd
    /// The transfer with the run's bytes.
    var transferID: TransferID
    var outcome: TaskOutcome
    /// True if the task gets a transfer of its own for its next attempt.
    var leavesTransfer = false
    /// Events that are not committed yet, in order.
    var pendingEvents: [EventPayload]
    /// The kept response, even if it was refused.
    var keptResponse: KeptResponse?
    /// True if the server may have begun to act on the request.
    var requestWasSent = false
    /// True if a later attempt can continue from here.
    var isResumable = false
    /// True if the partial file was lost or changed.
    var isPartLost = false
    /// The final counters.
    var progress: RunProgress

    /// True if the run completed with content of its own. If the task was cancelled meanwhile, a published file is
    /// removed. Also true for a completed run without a file to publish.
    var isPublished: Bool {
        guard case .completed = end else { return false }
        return !outcome.skipped && !outcome.notModified
    }
}

/// A response that is to be committed, with its file if it is large. The file belongs to the run until the row is
/// committed.
struct KeptResponse: Sendable {
    var result: StoredResult
    var file: SpoolFile?
}
