import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl operation`: the `operation.*` methods.
struct OperationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operation", abstract: "List, show and cancel verbs over many tasks.",
        discussion: """
            If a verb's filter matches more than 1,000 tasks, the daemon carries it out in the background, also after \
            a crash. This is called an operation. The operations of one user run one after the other.
            """,
        subcommands: [List.self, Show.self, Cancel.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List them, the newest first.")

        @OptionGroup var pages: PageOptions
        @OptionGroup var options: VerbOptions

        func run() throws {
            try pages.show(OperationList.self, options) { OperationText.lines($0, $1) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the progress of an operation, or its result.")

        @Argument(help: ArgumentHelp("The operation's id.", valueName: "id"), transform: OperationText.id)
        var id: OperationID

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(OperationGet.self, OperationGet.Params(id: id))
            options.show(answer) { result, _ in OperationText.details(result.operation) }
        }
    }

    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Stop an operation; what it has changed stays changed.")

        @Argument(help: ArgumentHelp("The operation's id.", valueName: "id"), transform: OperationText.id)
        var id: OperationID

        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.open().call(OperationCancel.self, OperationGet.Params(id: id))
            options.show(answer) { result, _ in OperationText.details(result.operation) }
        }
    }
}

/// Background operations in words.
enum OperationText {
    static func id(_ argument: String) throws -> OperationID {
        guard let number = Int64(argument, radix: 10), number > 0 else {
            throw ValidationError("expected an operation's id, a number; found \(SafeText.sanitised(argument))")
        }
        return OperationID(number)
    }

    static func lines(_ operations: [OperationRecord], _ terminal: Terminal) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "ID", alignment: .right), Table.Column(title: "STATE"), Table.Column(title: "VERB"),
            Table.Column(title: "CHANGED", alignment: .right), Table.Column(title: "UNCHANGED", alignment: .right),
            Table.Column(title: "BEGUN"), Table.Column(title: "FILTER", isFlexible: true, cut: .end),
        ])
        table.rows = operations.map { operation in
            [
                Table.Cell("\(operation.id)"), Table.Cell(SafeText.sanitised(operation.state.description)),
                Table.Cell(SafeText.sanitised(operation.verb.description)), Table.Cell("\(operation.changedCount)"),
                Table.Cell("\(operation.unchangedCount)"), Table.Cell(TimeText.local(operation.createdAt)),
                Table.Cell(SafeText.sanitised(operation.filter.wire.text)),
            ]
        }
        return table.lines(on: terminal, orElse: "no operations")
    }

    static func details(_ operation: OperationRecord) -> [String] {
        let (verb, state) = (operation.verb.description, operation.state.description)
        var lines = [
            "operation \(operation.id): \(SafeText.sanitised(verb)) \(SafeText.sanitised(operation.filter.wire.text))",
            "\(SafeText.sanitised(state)): "
                + progress(
                    operation.changedCount, operation.unchangedCount,
                    reached: operation.endedAt == nil ? operation.reached : nil, last: operation.last),
        ]
        if let count = operation.refusedCount { lines.append("\(count) refused") }
        lines += (operation.refused ?? []).prefix(10).map { "    " + SafeText.sanitised($0.message) }
        lines += RemovedFilesText.lines(operation.files)
        if let error = operation.error { lines.append("error: " + SafeText.sanitised(error)) }
        return lines
    }

    /// The progress as text, such as `41000 changed, 20 unchanged, at task 41020 of 1000000`.
    static func progress(_ changed: Int64, _ unchanged: Int64, reached: TaskID?, last: TaskID?) -> String {
        var text = "\(changed) changed"
        if unchanged > 0 { text += ", \(unchanged) unchanged" }
        if let reached, let last { text += ", at task \(reached) of \(last)" }
        return text
    }
}
