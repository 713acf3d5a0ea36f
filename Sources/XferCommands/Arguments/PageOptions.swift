import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// Options for the number of shown entries, for lists that have pages.
struct PageOptions: ParsableArguments {
    @Option(
        name: [.customShort("n"), .long], help: ArgumentHelp("List at most this many.", valueName: "count"),
        transform: Int.integer)
    var limit: Int = 100

    mutating func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit: expected at least 1.") }
    }

    /// A page of a list: the daemon's answer to one call.
    struct Page<Entry> {
        /// The answer, unchanged.
        let raw: JSONValue
        let entries: [Entry]
        let next: String?
    }

    /// Shows the list: as one document with `--json`, else as lines.
    ///
    /// - Parameters:
    ///   - largest: the highest number of entries in one answer of the daemon.
    ///   - remedy: another way than a higher limit to show the rest.
    ///   - saysMore: false if nothing is said about the rest, as for the output of `--no-header`.
    ///   - page: requests at most `limit` entries from this cursor on.
    func show<Entry>(
        _ options: VerbOptions, largest: Int, orBy remedy: String? = nil, saysMore: Bool = true,
        _ page: (_ limit: Int, _ cursor: String?) throws -> Page<Entry>,
        lines: ([Entry], Terminal) throws -> [String]
    ) throws {
        var entries: [Entry] = []
        var document: JSONObject?
        var left = limit
        var cursor: String?
        repeat {
            let page = try page(min(left, largest), cursor)
            if options.output.json { document = Self.joined(document, page.raw) } else { entries += page.entries }
            left -= page.entries.count
            // A page that its bounds end early may be empty; a place that does not move ends the list.
            cursor = page.next == cursor ? nil : page.next
        } while cursor != nil && left > 0
        if let document {
            Output.standard.document(JSONValue.object(document))
            if cursor != nil { Self.sayThereAreMore(than: limit, orBy: remedy) }
            return
        }
        let terminal = Terminal.standard
        for line in try lines(entries, terminal) { terminal.output.line(line) }
        if cursor != nil, saysMore { Self.sayThereAreMore(than: limit, orBy: remedy) }
    }

    /// Shows the entries that a method lists.
    ///
    /// - Parameter session: the connection; nil opens one.
    func show<Method: RPCMethod>(
        _ method: Method.Type, _ options: VerbOptions, _ params: Method.Params = Method.Params(),
        of session: DaemonSession? = nil, lines: ([Method.Result.Entry], Terminal) throws -> [String]
    ) throws where Method.Params: PageParams, Method.Result: PageRecord {
        let daemon = try session ?? options.open()
        var params = params
        try show(options, largest: TaskPages.largest) { limit, cursor in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(method, params)
            let entries = page.value[keyPath: Method.Result.list]
            return Page(raw: page.raw, entries: entries, next: page.value.nextCursor)
        } lines: {
            try lines($0, $1)
        }
    }

    /// All entries.
    static func all<Entry>(
        largest: Int, _ page: (_ limit: Int, _ cursor: String?) throws -> Page<Entry>
    ) throws -> [Entry] {
        var entries: [Entry] = []
        var cursor: String?
        repeat {
            let page = try page(largest, cursor)
            entries += page.entries
            cursor = page.next
        } while cursor != nil
        return entries
    }

    static func sayThereAreMore(than limit: Int, orBy remedy: String?) {
        let alternative = remedy.map { " or \($0)" } ?? ""
        let more = limit.multipliedReportingOverflow(by: 10)
        Output.error.line(
            "xferctl: there are more; see them with --limit \(more.overflow ? limit : more.partialValue)\(alternative)")
    }

    /// Joins two pages: lists are concatenated, every other member is the later page's.
    static func joined(_ document: JSONObject?, _ page: JSONValue) -> JSONObject {
        guard var document else { return page.objectValue ?? JSONObject() }
        for (name, value) in page.objectValue?.members ?? [] {
            if let earlier = document[name]?.arrayValue, let later = value.arrayValue {
                document[name] = .array(earlier + later)
            } else {
                document[name] = value
            }
        }
        return document
    }
}

/// The order of a list by age.
struct OrderOption: ParsableArguments {
    @Flag(help: "List the oldest first.")
    var oldestFirst = false

    var value: ListOrder { oldestFirst ? .ascending : .descending }
}

/// Bounds of listings.
enum TaskPages {
    /// The highest number of entries in one answer.
    static let largest = 1000
}
