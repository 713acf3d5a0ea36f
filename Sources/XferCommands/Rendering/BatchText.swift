import XferModel
import XferProtocol

/// Batches in words.
struct BatchText: Sendable {
    let style: Style

    func lines(_ batch: BatchRecord) -> [String] {
        [
            entry("batch", "\(batch.id)"), entry("group", SafeText.sanitised(batch.group)),
            entry("finished", Self.progress(batch)), entry("tasks", QueueText(style: style).counts(batch.counts)),
            entry("completed", batch.completedAt.map { TimeText.local($0) } ?? "not yet"),
        ]
    }

    /// What was added: `batch 4: 3 of 5 entries, group batch-4`.
    static func added(_ result: BatchAdd.Result) -> String {
        let exists = result.existing == true ? " (it was there already)" : ""
        let refused = result.errors.isEmpty ? "" : ", \(result.errors.count) refused"
        return "batch \(result.batch.id): \(result.batch.total) tasks\(refused)\(exists)"
    }

    /// `5 of 5, 2 failed`.
    static func progress(_ batch: BatchRecord) -> String {
        "\(batch.finished) of \(batch.total)" + (batch.skipped > 0 ? ", \(batch.skipped) failed" : "")
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
