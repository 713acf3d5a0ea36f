import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl list`: pages of `task.list` as a table.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tasks.",
        discussion: """
            The newest first. --sort looks at all tasks that match before it shows the first ones.

              xferctl list --queue
              xferctl list --failed --columns id,ended,name,note
              xferctl list --sort size --reverse -n 10
            """, aliases: ["ls"])

    @OptionGroup(title: "Filters") var filters: FilterOptions

    @OptionGroup var pages: PageOptions

    @Flag(help: "List the oldest first.")
    var oldestFirst = false

    @Flag(
        name: .customLong("queue"),
        help: "List queued tasks in the order in which they start, with their places, host by host.")
    var isQueue = false

    @Option(
        help: ArgumentHelp(
            "Show these columns, separated by commas: "
                + TaskColumn.allCases.map(\.rawValue).joined(separator: ", ") + ".", valueName: "names"),
        completion: .daemon(.columns), transform: Self.columns)
    var columns: [TaskColumn]?

    @Option(
        help: ArgumentHelp("Show these fields of the tasks as they are, separated by commas.", valueName: "names"),
        completion: .daemon(.fields), transform: Self.fields)
    var fields: TaskColumns?

    @Option(help: ArgumentHelp("Sort by this column.", valueName: "column"))
    var sort: TaskColumn?

    @Flag(help: "With --sort: the greatest first.")
    var reverse = false

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        if columns != nil, fields != nil { throw ValidationError("--columns and --fields exclude each other.") }
        if columns != nil, options.output.json {
            throw ValidationError("--columns is for tables; --fields chooses the members of --json.")
        }
        if sort != nil, oldestFirst { throw ValidationError("--sort and --oldest-first exclude each other.") }
        if isQueue, sort != nil || oldestFirst { throw ValidationError("--queue has an order of its own.") }
        if isQueue, !filters.states.isEmpty, filters.states != [.queued] {
            throw ValidationError("--queue lists queued tasks only.")
        }
        if reverse, sort == nil { throw ValidationError("--reverse needs --sort COLUMN.") }
    }

    func run() throws {
        let daemon = try options.open()
        var params = TaskList.Params()
        params.filter = filters.filter
        params.order = isQueue ? .queue : oldestFirst ? .ascending : .descending
        params.fields = requestedFields
        let page = { (limit: Int, cursor: String?) throws(CommandFailure) -> PageOptions.Page<TaskRecord> in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(TaskList.self, params)
            return PageOptions.Page(raw: page.raw, entries: page.value.tasks, next: page.value.nextCursor)
        }
        guard let sort else {
            return try pages.show(options, largest: TaskPages.largest, orBy: "filters", page) { lines($0, $1, daemon) }
        }
        try showSorted(by: sort, try PageOptions.all(largest: TaskPages.largest, page), daemon)
    }

    /// Nil is all that a listing has.
    private var requestedFields: TaskColumns? {
        let shown = columns ?? TaskTable.overviewColumns
        let needed = TaskTable.fields(of: shown + [sort].compactMap(\.self))
        guard let fields else { return options.output.json ? nil : needed }
        return sort == nil ? fields : TaskColumns(fields.names + needed.names)
    }

    private func showSorted(by column: TaskColumn, _ records: [TaskRecord], _ daemon: DaemonSession) throws {
        let ascending = TaskTable.sorted(records, by: column)
        let sorted = (reverse ? ascending.reversed() : ascending).prefix(pages.limit).map { record in
            fields.map { record.selecting($0) } ?? record
        }
        let isCut = records.count > sorted.count
        if options.output.json {
            return Output.standard.document(TaskList.Result(tasks: sorted, nextCursor: nil).wire)
        }
        let terminal = Terminal.standard
        for line in lines(sorted, terminal, daemon) { terminal.output.line(line) }
        if isCut { PageOptions.sayThereAreMore(than: pages.limit, orBy: "filters") }
    }

    private func lines(_ records: [TaskRecord], _ terminal: Terminal, _ daemon: DaemonSession) -> [String] {
        if records.isEmpty, filters.filter != nil {
            let reason = SelectionReason(filters, daemon).noMatch()
            guard !terminal.isInteractive else { return [reason] }
            // Standard output stays empty for programs.
            Output.error.line("xferctl: \(reason)")
        }
        return table(records).lines(on: terminal, orElse: "no tasks")
    }

    private func table(_ records: [TaskRecord]) -> Table {
        if fields != nil { return TaskTable.fields(records) }
        var table = tasks(records)
        if isQueue { table.number("POS") }
        return table
    }

    private func tasks(_ records: [TaskRecord]) -> Table {
        columns.map { TaskTable.table(records, $0, now: .now) } ?? TaskTable.overview(records, now: .now)
    }

    private static func columns(_ text: String) throws -> [TaskColumn] {
        try names(text).map { name in
            guard let column = TaskColumn(rawValue: name.lowercased()) else {
                throw unknown(name, "column", among: TaskColumn.allCases.map(\.rawValue))
            }
            return column
        }
    }

    private static func fields(_ text: String) throws -> TaskColumns {
        let names = try names(text)
        let known = TaskRecord.wireFields.map(\.name)
        for name in names where !known.contains(name) { throw unknown(name, "field", among: known) }
        do throws(WireError) {
            return try TaskColumns(strict: names.wire)
        } catch {
            throw ValidationError("expected \(error.expected)")
        }
    }

    private static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: ",").map { String($0.trimmingBlanks) }.filter { !$0.isEmpty }
        guard !names.isEmpty else { throw ValidationError("expected names, separated by commas") }
        return names
    }

    /// Names the word that is wrong, and what was probably meant.
    private static func unknown(_ name: String, _ kind: String, among known: [String]) -> ValidationError {
        let text = "there is no \(kind) \"\(SafeText.sanitised(name))\""
        guard let near = known.closest(to: name) else {
            return ValidationError("\(text); there are \(known.joined(separator: ", "))")
        }
        return ValidationError("\(text); did you mean \(near)?")
    }
}
