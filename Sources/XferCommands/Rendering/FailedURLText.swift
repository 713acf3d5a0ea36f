import XferModel
import XferProtocol

/// The failed-URL list in words.
enum FailedURLText {
    /// Entries the daemon gives at once at most.
    static let largestPage = 1000

    static func lines(_ entries: [FailedURLRecord], _ terminal: Terminal) -> [String] {
        guard !entries.isEmpty else { return terminal.isInteractive ? ["no failed URLs"] : [] }
        var table = Table(columns: [
            Table.Column(title: "ID", alignment: .right), Table.Column(title: "FAILED"), Table.Column(title: "UNTIL"),
            Table.Column(title: "TASK", alignment: .right), Table.Column(title: "URL", isFlexible: true),
            Table.Column(title: "WHY", isFlexible: true),
        ])
        table.rows = entries.map { entry in
            [
                Table.Cell("\(entry.id)"), Table.Cell(TimeText.local(entry.failedAt)),
                Table.Cell(TimeText.local(entry.expiresAt)), Table.Cell("#\(entry.taskID)"), Table.Cell(entry.url),
                Table.Cell(entry.error.message),
            ]
        }
        return table.lines(style: terminal.style, width: terminal.isInteractive ? terminal.size.columns : nil)
    }

    static func removed(_ count: Int) -> String { "\(count) removed" }

    /// Nil for what is a URL.
    static func id(_ argument: String) -> FailedURLID? {
        Int64(argument, radix: 10).flatMap { $0 > 0 ? FailedURLID($0) : nil }
    }
}
