import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl failed-url`: the `failed_url.*` methods.
struct FailedURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed-url", abstract: "List and clear permanently failed URLs.",
        discussion: """
            A permanent failure of a download (404 and similar) is recorded: programs that add the same request again \
            get that failure without another request, until sharing.negative_ttl has passed. `xferctl add` and `xferctl retry` \
            make the request anyway.
            """,
        subcommands: [List.self, Remove.self, Clear.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List them, the newest first.")

        @OptionGroup var pages: PageOptions
        @OptionGroup var order: OrderOption
        @OptionGroup var options: VerbOptions

        func run() throws {
            var params = FailedURLList.Params()
            params.order = order.value
            try pages.show(FailedURLList.self, options, params) { FailedURLText.lines($0, $1) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Allow requests of URLs again.",
            discussion: "Give a URL as it was added, including the parts that the list shows as ***.")

        @Argument(
            help: ArgumentHelp("Ids of entries, or URLs.", valueName: "id or url"), completion: .daemon(.failedURLs))
        var entries: [String]

        @OptionGroup var options: ActionOptions

        func run() throws {
            try options.remove(FailedURLRemove.self, entries, FailedURLText.removed)
        }
    }

    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Allow requests of all URLs again: yours, or every user's for an operator.")

        @OptionGroup var options: ActionOptions

        func run() throws {
            options.show(try options.open().call(FailedURLClear.self)) { result, _ in
                [FailedURLText.removed(result.removedCount)]
            }
        }
    }
}

/// The texts about the failed-URL list.
enum FailedURLText {
    static func lines(_ entries: [FailedURLRecord], _ terminal: Terminal) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "ID", alignment: .right), Table.Column(title: "FAILED"), Table.Column(title: "UNTIL"),
            Table.Column(title: "TASK", alignment: .right), Table.Column(title: "URL", isFlexible: true),
            Table.Column(title: "WHY", isFlexible: true, cut: .end),
        ])
        table.rows = entries.map { entry in
            [
                Table.Cell("\(entry.id)"), Table.Cell(TimeText.local(entry.failedAt)),
                Table.Cell(TimeText.local(entry.expiresAt)), Table.Cell("#\(entry.taskID)"), Table.Cell(entry.url),
                Table.Cell(FailureText.readable(entry.error.message)),
            ]
        }
        return table.lines(on: terminal, orElse: "no failed URLs")
    }

    static func removed(_ count: Int) -> String {
        count == 0 ? "nothing removed: no such URL is on the list" : "\(count) removed"
    }
}
