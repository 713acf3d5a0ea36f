import XferModel
import XferProtocol
import XferStore

/// The tasks that a verb over a filter may change.
struct TaskSpan: Hashable, Sendable {
    /// The tasks up to this one are done; nil begins with the first.
    var after: TaskID?
    var last: TaskID
}

/// Records a step of a verb over a filter in the step's own transaction, so that it is neither lost nor repeated.
/// Returns false if the verb is to stop after this step.
///
/// It may be called again for the same step, after a rollback.
typealias StepRecorder = @Sendable (_ tx: StoreTransaction, _ step: FilterStep) throws -> Bool

/// The result of one step of a verb over a filter.
struct FilterStep: Hashable, Sendable {
    /// The error of a verb that its recorder has stopped.
    struct Stopped: Error, CustomStringConvertible {
        var description: String { "the operation was stopped" }
    }

    /// The last task of the step.
    var reached: TaskID
    var counts = OperationCounts()
    var report = OperationReport()
    var time: Timestamp

    init(reached: TaskID, _ outcome: SelectionResult.Listed, at time: Timestamp) {
        self.reached = reached
        self.time = time
        counts.changed = Int64(clamping: outcome.changed.count)
        counts.unchanged = Int64(clamping: outcome.unchanged.count)
        guard let files = outcome.files else { return }
        counts.filesDeleted = Int64(clamping: files.deleted)
        counts.filesKept = Int64(clamping: files.keptCount)
        report.kept = files.kept.prefix(OperationReport.largest).map {
            OperationReport.KeptFile(id: $0.id, path: $0.path, reason: $0.reason)
        }
    }

    init(reached: TaskID, _ step: SelectionResult.Counted, at time: Timestamp) {
        self.reached = reached
        self.time = time
        counts.changed = Int64(clamping: step.changedCount)
        counts.unchanged = Int64(clamping: step.unchangedCount)
        counts.refused = Int64(clamping: step.refusedCount ?? 0)
        report.refusals = (step.refused ?? []).map {
            OperationReport.Refusal(id: $0.id, reason: $0.reason, message: $0.message)
        }
    }
}
