import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl list`: pages of `task.list` as a table.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tasks.", aliases: ["ls"])

    @OptionGroup(title: "Filters") var filters: FilterOptions

    @OptionGroup var pages: PageOptions

    @Flag(help: "List the oldest first.")
    var oldestFirst = false

    @Option(help: ArgumentHelp("Show these fields, separated by commas.", valueName: "names"))
    var fields: String?

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        _ = try columns()
    }

    func run() throws {
        let daemon = try options.open()
        var params = TaskList.Params()
        params.filter = filters.filter
        params.order = oldestFirst ? .ascending : .descending
        params.fields = options.output.json && fields == nil ? nil : try columns() ?? TaskSummary.columns
        try pages.show(options, largest: TaskPages.largest, orBy: "filters") { limit, cursor in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(TaskList.self, params)
            return PageOptions.Page(text: page.raw.text, entries: page.value.tasks, next: page.value.nextCursor)
        } lines: {
            lines($0, $1)
        }
    }

    private func columns() throws -> TaskColumns? {
        guard let names = fields?.split(separator: ",").map({ String($0.trimmingBlanks) }) else { return nil }
        do throws(WireError) {
            return try TaskColumns(strict: names.wire)
        } catch {
            throw ValidationError("--fields: expected \(error.expected)")
        }
    }

    private func lines(_ records: [TaskRecord], _ terminal: Terminal) -> [String] {
        guard !records.isEmpty else { return terminal.isInteractive ? ["no tasks"] : [] }
        let table = fields == nil ? TaskTable.overview(records, now: .now) : TaskTable.fields(records)
        return table.lines(style: terminal.style, width: terminal.isInteractive ? terminal.size.columns : nil)
    }
}
