import StrictJSON
import XferModel
import XferProtocol

/// The cache in words.
enum CacheText {
    /// Entries the daemon gives at once at most.
    static let largestPage = 1000

    static func lines(_ entries: [CacheEntryRecord], _ terminal: Terminal) -> [String] {
        guard !entries.isEmpty else { return terminal.isInteractive ? ["nothing is kept"] : [] }
        var table = Table(columns: [
            Table.Column(title: "ID", alignment: .right), Table.Column(title: "RECEIVED"), Table.Column(title: "USED"),
            Table.Column(title: "FRESH UNTIL"), Table.Column(title: "SIZE", alignment: .right),
            Table.Column(title: "URL", isFlexible: true),
        ])
        table.rows = entries.map { entry in
            [
                Table.Cell("\(entry.id)"), Table.Cell(TimeText.local(entry.receivedAt)),
                Table.Cell(TimeText.local(entry.lastUsedAt)), Table.Cell(entry.freshUntil.map(TimeText.local) ?? "-"),
                Table.Cell(ByteText.size(entry.size)), Table.Cell(entry.url),
            ]
        }
        return table.lines(style: terminal.style, width: terminal.isInteractive ? terminal.size.columns : nil)
    }

    static func lines(_ stats: CacheStats.Result) -> [String] {
        [
            "\(stats.entries) responses, \(ByteText.size(stats.size)) of \(ByteText.size(stats.maxBytes)), kept for "
                + "\(DurationText.short(stats.maxAge)) since their last use"
        ]
    }

    /// One line for each field, named as on the wire; header fields beneath.
    static func lines(_ entry: CacheEntryRecord, _ terminal: Terminal) -> [String] {
        let members = entry.wire.objectValue?.members ?? []
        func line(_ name: String, _ text: String) -> String {
            terminal.style(.bold, TextWidth.padded(name, to: 18)) + SafeText.sanitised(text)
        }
        var lines = members.filter { $0.key != "response_headers" }.map { line($0, $1.stringValue ?? $1.text) }
        for field in entry.responseHeaders?.fields ?? [] {
            lines.append("  " + SafeText.sanitised("\(field.name): \(field.value)"))
        }
        return lines
    }

    static func removed(_ result: CacheClear.Result) -> String {
        "\(result.removedCount) removed, \(ByteText.size(result.removedSize))"
    }

    /// Nil for what is a URL.
    static func id(_ argument: String) -> CacheEntryID? {
        Int64(argument, radix: 10).flatMap { $0 > 0 ? CacheEntryID($0) : nil }
    }
}
