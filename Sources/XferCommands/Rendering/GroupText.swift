import XferModel
import XferProtocol

/// Groups in words.
struct GroupText: Sendable {
    /// Groups the daemon gives at once at most.
    static let largestPage = 1000

    let style: Style

    func lines(_ group: GroupRecord) -> [String] {
        [
            entry("group", SafeText.sanitised(group.name)), entry("owner", "\(group.owner)"),
            entry("state", QueueText.paused(group.paused)),
            entry("max active", group.maxActive.map { "\($0)" } ?? "no limit of its own"),
        ] + (group.maxReceiveRate.map { [entry("max receive", ByteText.limit($0))] } ?? [])
            + (group.maxSendRate.map { [entry("max send", ByteText.limit($0))] } ?? [])
            + (group.batch.map { [entry("batch", "\($0)")] } ?? [])
            + [entry("tasks", QueueText(style: style).counts(group.counts))]
    }

    func table(_ groups: [GroupRecord], _ terminal: Terminal) -> [String] {
        guard !groups.isEmpty else { return terminal.isInteractive ? ["no groups"] : [] }
        var table = Table(columns: [
            Table.Column(title: "GROUP", isFlexible: true), Table.Column(title: "OWNER", alignment: .right),
            Table.Column(title: "STATE"), Table.Column(title: "MAX", alignment: .right),
            Table.Column(title: "UNFINISHED", alignment: .right), Table.Column(title: "FAILED", alignment: .right),
        ])
        table.rows = groups.map { group in
            [
                Table.Cell(group.name), Table.Cell("\(group.owner)"), Table.Cell(group.paused ? "paused" : "open"),
                Table.Cell(group.maxActive.map { "\($0)" } ?? "-"), Table.Cell("\(group.counts.unfinished)"),
                Table.Cell("\(group.counts.failed)"),
            ]
        }
        return table.lines(style: style, width: terminal.isInteractive ? terminal.size.columns : nil)
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
