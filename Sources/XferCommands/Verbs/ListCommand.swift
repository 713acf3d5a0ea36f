import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl list`: pages of `task.list` as a table.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tasks.", aliases: ["ls"])

    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("List at most so many.", valueName: "count"))
    var limit = 100

    @Flag(help: "List the oldest first.")
    var oldestFirst = false

    @Option(help: ArgumentHelp("Show these fields, separated by commas.", valueName: "names"))
    var fields: String?

    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit: expected at least 1.") }
        _ = try columns()
    }

    func run() throws {
        let daemon = try options.open()
        var params = TaskList.Params()
        params.filter = filters.filter
        params.order = oldestFirst ? .ascending : .descending
        params.fields = options.output.json && fields == nil ? nil : try columns() ?? TaskGlance.columns
        var records: [TaskRecord] = []
        var left = limit
        repeat {
            params.limit = min(left, TaskPages.largest)
            let page = try daemon.call(TaskList.self, params)
            if options.output.json { Output.standard.line(page.raw.text) } else { records += page.value.tasks }
            left -= max(1, page.value.tasks.count)
            params.cursor = page.value.nextCursor
        } while params.cursor != nil && left > 0
        if !options.output.json { show(records, isCut: params.cursor != nil) }
    }

    private func columns() throws -> TaskColumns? {
        guard let names = fields?.split(separator: ",").map({ String($0.trimmingBlanks) }) else { return nil }
        do throws(WireError) {
            return try TaskColumns(strict: names.wire)
        } catch {
            throw ValidationError("--fields: expected \(error.expected)")
        }
    }

    private func show(_ records: [TaskRecord], isCut: Bool) {
        let terminal = Terminal.standard
        guard !records.isEmpty else {
            if terminal.isInteractive { terminal.output.line("no tasks") }
            return
        }
        let table = fields == nil ? TaskTable.overview(records, now: .now) : TaskTable.fields(records)
        let width = terminal.isInteractive ? terminal.size.columns : nil
        for line in table.lines(style: terminal.style, width: width) { terminal.output.line(line) }
        if isCut { Output.error.line("xferctl: there are more; see them with --limit \(limit * 10) or filters") }
    }
}
