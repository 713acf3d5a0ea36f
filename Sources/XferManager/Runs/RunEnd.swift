import XferModel
import XferStore

/// How a run came to its end; the manager turns it into the task's next state.
enum RunEnd: Sendable {
    /// The file has its final name and is durable; or nothing had to be published; or the response is kept.
    case completed(size: Int64)
    /// The file is whole, right and durable, the database says so, and the client decides when it is published.
    case staged(size: Int64)
    /// The attempt failed after its bytes were checkpointed.
    case failed(TransferError)
    /// The bytes were wrong and are given up; another source is to be asked for them at once. It was no try.
    case again
    /// The run was asked to stop, and its bytes are checkpointed.
    case stopped
    /// The database cannot be written: nothing that happened since the last commit counts.
    case storageFailed
    /// The task is no longer running in the database: it was cancelled or paused while nobody could be asked to stop.
    case overtaken
}

/// A run's end together with the facts that go into the task's row with it.
struct RunResult: Sendable {
    var end: RunEnd
    /// The transfer whose bytes it left.
    var transferID: TransferID
    var outcome: TaskOutcome
    /// Whether the task is to get a transfer of its own with its next try.
    var leavesTransfer = false
    /// Events that had no commit of their own yet, in order.
    var pendingEvents: [EventPayload]
    /// What was kept of the response, also of one that was refused.
    var keptResponse: KeptResponse?
    /// Whether the server may have begun to act on the request.
    var requestWasSent = false
    /// Whether a later try can go on from here.
    var isResumable = false
    /// Whether its partial file is not there any more as it was.
    var isPartLost = false
    /// The counters as they stood last.
    var progress: RunProgress

    /// Whether a file has its final name; a cancel that overtook it takes that back.
    var isPublished: Bool {
        guard case .completed = end else { return false }
        return !outcome.skipped && !outcome.notModified
    }
}
