import ArgumentParser
import XferModel

/// How much of a list is shown, for lists that come in pages.
struct PageOptions: ParsableArguments {
    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("List at most so many.", valueName: "count"))
    var limit = 100

    mutating func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit: expected at least 1.") }
    }

    /// What the daemon answered to one call.
    struct Page<Entry> {
        /// As it came.
        let text: String
        let entries: [Entry]
        let next: String?
    }

    /// Shows the list, page after page as `--json`, else as lines.
    ///
    /// - Parameters:
    ///   - largest: entries the daemon gives at once at most.
    ///   - remedy: what else than a higher limit shows the rest.
    ///   - page: asks for at most so many from this cursor on.
    func show<Entry>(
        _ options: VerbOptions, largest: Int, orBy remedy: String? = nil,
        _ page: (_ limit: Int, _ cursor: String?) throws -> Page<Entry>,
        lines: ([Entry], Terminal) -> [String]
    ) throws {
        var entries: [Entry] = []
        var left = limit
        var cursor: String?
        repeat {
            let page = try page(min(left, largest), cursor)
            if options.output.json { Output.standard.line(page.text) } else { entries += page.entries }
            left -= max(1, page.entries.count)
            cursor = page.next
        } while cursor != nil && left > 0
        guard !options.output.json else { return }
        let terminal = Terminal.standard
        for line in lines(entries, terminal) { terminal.output.line(line) }
        guard cursor != nil else { return }
        let alternative = remedy.map { " or \($0)" } ?? ""
        Output.error.line("xferctl: there are more; see them with --limit \(limit * 10)\(alternative)")
    }
}

/// Bounds of listings.
enum TaskPages {
    /// Most tasks that one answer holds.
    static let largest = 1000
}
