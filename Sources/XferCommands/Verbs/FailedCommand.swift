import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl failed`: failed tasks by reason and host, with counts.
struct FailedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed", abstract: "Count failed tasks by reason and host.",
        discussion: """
            The most frequent first, each with the newest task: `xferctl show ID` says what to do about it, \
            `xferctl retry --failed --host HOST` retries those of a host, with --reason NAME those of a reason; --json \
            shows the names.

              xferctl failed --since yesterday
              xferctl failed --group isos
            """)

    @Option(
        help: ArgumentHelp("Only tasks of this group; may be repeated.", valueName: "name"),
        completion: .daemon(.groups))
    var group: [String] = []

    @Option(
        help: ArgumentHelp("Only tasks with this label; may be repeated.", valueName: "text"),
        completion: .daemon(.labels))
    var label: [String] = []

    @Option(
        help: ArgumentHelp("Only tasks that failed at or after this time.", valueName: "time"),
        transform: PastTimeArgument.argument)
    var since: PastTimeArgument?

    @OptionGroup var heading: HeadingOption
    @OptionGroup var options: VerbOptions

    func run() throws {
        let daemon = try options.open()
        var params = TaskList.Params()
        params.filter = TaskFilter()
        params.filter?.state = OneOrMany([.failed])
        params.filter?.group = group.isEmpty ? nil : OneOrMany(group)
        params.filter?.label = label.isEmpty ? nil : OneOrMany(label)
        params.fields = TaskColumns(["state", "error", "url", "finished_at"])
        let records = try PageOptions.all(largest: TaskPages.largest) { limit, cursor throws(CommandFailure) in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(TaskList.self, params)
            return PageOptions.Page(raw: page.raw, entries: page.value.tasks, next: page.value.nextCursor)
        }
        let groups = FailureGroup.groups(records, since: since?.time)
        options.show(
            .object(["failed": .array(groups.map(\.json))]),
            FailureGroup.table(groups, now: .now).lines(
                on: .standard, orElse: emptiness, hasHeading: !heading.isHidden))
        if groups.isEmpty, !options.output.json, !Terminal.standard.isInteractive {
            Output.error.line("xferctl: \(emptiness)")
        }
    }

    /// The text if there is no failure.
    private var emptiness: String {
        let chosen = group.isEmpty && label.isEmpty ? "" : " of these"
        return "no task\(chosen) has failed\(since.map { " since \(TimeText.local($0.time))" } ?? "")"
    }
}

/// Tasks that failed at the same host for the same reason.
struct FailureGroup: Hashable, Sendable {
    let reason: String
    /// A short cause, with a status where there is one. Not sanitised.
    let cause: String
    let host: String
    private(set) var count = 1
    private(set) var newest: TaskID
    private(set) var last: Timestamp?

    /// Returns the groups of failures, the most frequent first.
    static func groups(_ records: [TaskRecord], since: Timestamp?) -> [FailureGroup] {
        var groups: [[String]: FailureGroup] = [:]
        for record in records {
            if let since, (record.finishedAt ?? since) < since { continue }
            let failure = record.error.map(TaskSummary.Failure.init)
            let reason = failure?.reason ?? "unknown"
            let host = failure?.host ?? TaskSearch.host(of: record.url ?? "")
            let cause = failure.map { FailureText.cause($0) } ?? reason
            groups[[reason, cause, host], default: FailureGroup(reason, cause, host, record)].add(record)
        }
        return groups.values.sorted { ($1.count, $0.host, $0.cause) < ($0.count, $1.host, $1.cause) }
    }

    private init(_ reason: String, _ cause: String, _ host: String, _ record: TaskRecord) {
        (self.reason, self.cause, self.host) = (reason, cause, host)
        newest = record.id
        count = 0
    }

    private mutating func add(_ record: TaskRecord) {
        count += 1
        if let end = record.finishedAt, last.map({ $0 < end }) ?? true { (last, newest) = (end, record.id) }
    }

    var json: JSONValue {
        var object: JSONObject = [
            "count": .integer(Int64(clamping: count)), "reason": .string(reason), "cause": .string(cause),
            "host": .string(host), "newest": .integer(newest.rawValue),
        ]
        if let last { object["last"] = .string(last.description) }
        return .object(object)
    }

    static func table(_ groups: [FailureGroup], now: Timestamp) -> Table {
        var table = Table(columns: [
            Table.Column(title: "COUNT", alignment: .right), Table.Column(title: "HOST", isFlexible: true),
            Table.Column(title: "REASON", isFlexible: true, cut: .end), Table.Column(title: "LAST"),
            Table.Column(title: "NEWEST", alignment: .right),
        ])
        table.rows = groups.map { group in
            [
                Table.Cell("\(group.count)"), Table.Cell(group.host), Table.Cell(group.cause),
                Table.Cell(group.last.map { TimeText.clock($0, now: now) } ?? ""), Table.Cell("\(group.newest)"),
            ]
        }
        return table
    }
}
