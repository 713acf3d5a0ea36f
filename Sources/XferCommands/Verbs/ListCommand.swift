import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl list`: pages of `task.list` as a table.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tasks.",
        discussion: """
            Running tasks come first, then waiting ones, queued ones in the order of their starts, and ended ones, the \
            newest first. Without filters, tasks that ended before today are hidden; --all shows it. Words search \
            tasks by name, label, group or URL; a state, such as failed, selects as --state. With --json, --oldest-first and --queue the order is different: by id, \
            the newest first. --sort reads all matching tasks before it shows the first ones.

              xferctl list --queue
              xferctl list debian --since yesterday
              xferctl list --failed --columns id,ended,name,note
              xferctl list --sort size --reverse -n 10
            """, aliases: ["ls"])

    @Argument(
        help: ArgumentHelp(
            "Ids, states, or parts of names, labels, groups and URLs; all have to match.",
            valueName: "id or word"),
        completion: .daemon(.tasks))
    var words: [String] = []

    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(
        help: ArgumentHelp("Only tasks that were added or ended at or after this time.", valueName: "time"),
        transform: PastTimeArgument.argument)
    var since: PastTimeArgument?

    @Flag(name: .customLong("all"), help: "Also show tasks that ended before today.")
    var showsAll = false

    @OptionGroup var heading: HeadingOption
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
        help: ArgumentHelp("Show these fields of the tasks unformatted, separated by commas.", valueName: "names"),
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
        let (words, filters) = selection
        if isQueue, !filters.states.isEmpty, filters.states != [.queued] {
            throw ValidationError("--queue lists queued tasks only.")
        }
        if isQueue, !words.isEmpty || since != nil {
            throw ValidationError("--queue excludes search words and --since.")
        }
        if heading.isHidden, options.output.json { throw ValidationError("--no-header is for tables.") }
        if reverse, sort == nil { throw ValidationError("--reverse needs --sort COLUMN.") }
    }

    /// The words to search for, and the filters with the states among the words: `list failed` means `--state failed`.
    private var selection: (words: [String], filters: FilterOptions) {
        var filters = filters
        var others: [String] = []
        for word in words {
            if let states = EnumArguments<TaskState>(argument: word.lowercased()) {
                filters.state.append(states)
            } else {
                others.append(word)
            }
        }
        return (others, filters)
    }

    func run() throws {
        let daemon = try options.open()
        let (words, filters) = selection
        let search = TaskSearch(words: words, since: since)
        try list(search, filters, daemon)
        try search.requireTasks(daemon)
    }

    private func list(_ search: TaskSearch, _ filters: FilterOptions, _ daemon: DaemonSession) throws {
        var params = TaskList.Params()
        params.filter = try search.filter(filters.filter, daemon)
        params.order = isQueue ? .queue : oldestFirst ? .ascending : .descending
        params.fields = requestedFields(search)
        var damaged: [TaskID] = []
        defer { DamagedRowText.report(damaged) }
        let page = { (limit: Int, cursor: String?) throws(CommandFailure) -> PageOptions.Page<TaskRecord> in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(TaskList.self, params)
            damaged += page.value.unreadable ?? []
            return PageOptions.Page(
                raw: withoutExtraID(page.raw), entries: page.value.tasks, next: page.value.nextCursor)
        }
        if sort != nil || search.filtersLocally {
            let found = try PageOptions.all(largest: TaskPages.largest, page).filter(search.matches)
            return try showAll(sort == nil && groupsByState ? found.sorted(by: TaskStage.comesFirst) : found, daemon)
        }
        guard groupsByState else {
            return try pages.show(
                options, largest: TaskPages.largest, orBy: "filters", saysMore: !heading.isHidden, page
            ) { lines($0, $1, daemon) }
        }
        var stages = TaskStages(limit: pages.limit, hidesOld: !showsAll && params.filter == nil && !options.isFleet)
        try stages.collect(params, daemon)
        damaged = stages.damaged
        let terminal = Terminal.standard
        for line in lines(stages.records, terminal, daemon) { terminal.output.line(line) }
        // Without a header the output is for a program, which has chosen how many it takes.
        if stages.isCut, !heading.isHidden { PageOptions.sayThereAreMore(than: pages.limit, orBy: "filters") }
        if let hidden = try stages.hiddenCount(daemon) {
            Output.error.line("xferctl: \(hidden) that ended before today are hidden; --all shows them")
        }
    }

    /// True if tasks are listed in the order for people, and not in the daemon's.
    private var groupsByState: Bool {
        !options.output.json && fields == nil && !isQueue && !oldestFirst
    }

    /// The requested fields; nil is all fields of a listing.
    private func requestedFields(_ search: TaskSearch) -> TaskColumns? {
        let shown = columns ?? TaskTable.overviewColumns
        let needed = TaskTable.fields(of: shown + [.ended] + [sort].compactMap(\.self))
        guard let fields else {
            guard !options.output.json else { return nil }
            return TaskColumns(needed.names + (search.filtersLocally ? TaskSearch.fields : [])) ?? needed
        }
        guard sort != nil || search.filtersLocally else { return fields }
        return TaskColumns(fields.names + needed.names + TaskSearch.fields)
    }

    /// The answer as `--fields` chooses: the daemon always adds the id.
    private func withoutExtraID(_ answer: JSONValue) -> JSONValue {
        guard let fields, !fields.contains("id"), var document = answer.objectValue,
            let tasks = document["tasks"]?.arrayValue
        else { return answer }
        document["tasks"] = .array(
            tasks.map { task in
                guard var members = task.objectValue else { return task }
                members["id"] = nil
                return .object(members)
            })
        return .object(document)
    }

    private func showAll(_ records: [TaskRecord], _ daemon: DaemonSession) throws {
        let ordered = sort.map { TaskTable.sorted(records, by: $0, isReversed: reverse) } ?? records
        let sorted = ordered.prefix(pages.limit).map { record in
            fields.map { record.selecting($0) } ?? record
        }
        let isCut = records.count > sorted.count
        if options.output.json {
            return Output.standard.document(withoutExtraID(TaskList.Result(tasks: sorted, nextCursor: nil).wire))
        }
        let terminal = Terminal.standard
        for line in lines(sorted, terminal, daemon) { terminal.output.line(line) }
        if isCut, !heading.isHidden { PageOptions.sayThereAreMore(than: pages.limit, orBy: "filters") }
    }

    private func lines(_ records: [TaskRecord], _ terminal: Terminal, _ daemon: DaemonSession) -> [String] {
        let (words, filters) = selection
        if records.isEmpty, words.isEmpty, since == nil, filters.filter != nil {
            let reason = SelectionReason(filters, daemon).noMatch()
            guard !terminal.isInteractive else { return [reason] }
            // Standard output stays empty for programs.
            Output.error.line("xferctl: \(reason)")
        }
        return table(records).lines(on: terminal, orElse: "no tasks", hasHeading: !heading.isHidden)
    }

    private func table(_ records: [TaskRecord]) -> Table {
        if let fields { return TaskTable.table(records, fields) }
        var table = tasks(records)
        if isQueue { table.number("POS") }
        return table
    }

    private func tasks(_ records: [TaskRecord]) -> Table {
        columns.map { TaskTable.table(records, $0, now: .now) } ?? TaskTable.overview(records, now: .now)
    }

    private static func columns(_ text: String) throws -> [TaskColumn] {
        try names(text).map { name in
            // The same names as in --json.
            guard let column = TaskColumn(rawValue: name.lowercased()) ?? TaskColumn(fieldName: name) else {
                guard !TaskRecord.wireFields.contains(where: { $0.name == name }) else {
                    let name = SafeText.sanitised(name)
                    throw ValidationError("\"\(name)\" is a field and no column; --fields \(name) shows it")
                }
                throw unknown(name, "column", among: TaskColumn.allCases.map(\.rawValue))
            }
            return column
        }
    }

    private static func fields(_ text: String) throws -> TaskColumns {
        let names = try names(text)
        let known = TaskRecord.wireFields.map(\.name)
        for name in names where !known.contains(name) {
            if let column = TaskColumn(rawValue: name) {
                let field = known.first { TaskColumn(fieldName: $0) == column }.map { "the field is \($0), and " } ?? ""
                throw ValidationError("there is no field \"\(name)\"; \(field)--columns \(name) shows the column")
            }
            guard known.closest(to: name) != nil else {
                let name = SafeText.sanitised(name)
                throw ValidationError("there is no field \"\(name)\"; `xferctl show ID --json` has all of a task")
            }
            throw unknown(name, "field", among: known)
        }
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

    /// An error with the unknown name, and the one that was probably meant.
    private static func unknown(_ name: String, _ kind: String, among known: [String]) -> ValidationError {
        let text = "there is no \(kind) \"\(SafeText.sanitised(name))\""
        guard let near = known.closest(to: name) else {
            return ValidationError("\(text); there are \(known.joined(separator: ", "))")
        }
        return ValidationError("\(text); did you mean \(near)?")
    }
}
