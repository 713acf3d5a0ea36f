import ArgumentParser
import XferProtocol

/// `xferctl hook`: the `hook.*` methods.
struct HookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "List the commands that tasks can run.",
        discussion: """
            Hooks are written in the daemon's configuration, under `hooks`. Tasks name them with --post-process, \
            --on-complete and --on-error of `xferctl add`.
            """,
        subcommands: [List.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List them.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().all(HookList.self)) { result, terminal in
                var table = Table(columns: [
                    .init(title: "NAME"), .init(title: "TIMEOUT", alignment: .right), .init(title: "GUESTS"),
                    .init(title: "COMMAND", isFlexible: true),
                ])
                table.rows = result.hooks.map { hook in
                    [
                        Table.Cell(hook.name), Table.Cell(DurationText.short(hook.timeout)),
                        Table.Cell(hook.guests ? "yes" : "no"), Table.Cell(hook.argv.joined(separator: " ")),
                    ]
                }
                return table.lines(on: terminal, orElse: "no hooks are configured")
            }
        }
    }
}
