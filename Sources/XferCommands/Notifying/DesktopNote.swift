import XferModel
import XferProtocol

/// The text of a desktop notification about ended tasks.
struct DesktopNote: Hashable, Sendable {
    /// One line of plain text.
    var summary: String
    /// Lines of plain text.
    var body: String
    /// True if it stays on the screen until the user has closed it.
    var isUrgent = false

    private static let maxLines = 5
    /// The width of one line, in columns.
    private static let width = 200

    init(summary: String, body: String) {
        self.summary = summary
        self.body = body
    }

    /// - Parameters:
    ///   - ends: tasks that have ended, in the order in which they are shown; one or more unless `removed` is.
    ///   - removed: tasks that no longer exist, so that their end is unknown.
    init(_ ends: [TaskSummary], removed: Int = 0) {
        let failed = ends.filter { $0.state == TaskState.failed.rawValue }
        isUrgent = !failed.isEmpty
        if let end = ends.first, ends.count == 1, removed == 0 {
            summary = Self.line("\(SafeText.sanitised(end.name)) \(SafeText.sanitised(end.state))")
        } else {
            summary = Self.counted(ends, removed: removed)
        }
        // Failures first: the others need nothing.
        let listed = failed + ends.filter { $0.state != TaskState.failed.rawValue }
        let text = OutcomeText(style: .plain)
        let shown = listed.prefix(Self.maxLines).flatMap { end in
            let lines = text.lines(end)
            return ends.count == 1 ? lines[...] : lines.prefix(1)
        }
        let more = listed.count - Self.maxLines
        body = (shown + (more > 0 ? ["and \(more) more"] : [])).map(Self.line).joined(separator: "\n")
    }

    /// The note about the end of a batch.
    init(_ batch: BatchRecord) {
        let isWhole = batch.skipped == 0 && batch.counts.cancelled == 0
        summary = "batch \(batch.id) \(isWhole ? "completed" : "ended")"
        body = BatchText.progress(batch)
        isUrgent = batch.skipped > 0
    }

    /// `3 tasks ended: 2 completed, 1 failed`; `3 tasks completed` if all had the same end.
    private static func counted(_ ends: [TaskSummary], removed: Int) -> String {
        var counts = Dictionary(grouping: ends) { SafeText.sanitised($0.state) }.mapValues(\.count)
        if removed > 0 { counts["removed"] = removed }
        let total = ends.count + removed
        let tasks = "\(total) \(total == 1 ? "task" : "tasks")"
        if let only = counts.first, counts.count == 1 { return "\(tasks) \(only.key)" }
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        return "\(tasks) ended: \(parts.joined(separator: ", "))"
    }

    private static func line(_ text: String) -> String { TextWidth.fitted(text, to: width) }

    /// The arguments of notify-send(1).
    var arguments: [String] {
        // Behind `--` a name that begins with a dash is no option.
        ["--app-name=xfer", "--urgency=\(isUrgent ? "critical" : "normal")", "--", summary, Self.escaped(body)]
    }

    /// Escapes text so that notify-send shows it unchanged.
    ///
    /// notify-send replaces escapes as in C. Servers read the body as markup (Desktop Notifications Specification,
    /// "Markup").
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
