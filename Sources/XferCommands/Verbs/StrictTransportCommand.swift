import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl hsts`: the `hsts.*` methods.
struct StrictTransportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hsts", abstract: "List and clear hosts that have demanded https.",
        discussion: """
            A host whose certificate was accepted can demand https for a time (Strict-Transport-Security, RFC 6797). \
            Its http URLs are then requested over https; the setting trust.hsts refuses them instead, or remembers no \
            host.
            """,
        subcommands: [List.self, Clear.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List them by name.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().all(StrictTransportList.self)) { result, terminal in
                var table = Table(columns: [
                    Table.Column(title: "HOST", isFlexible: true), Table.Column(title: "SUBDOMAINS"),
                    Table.Column(title: "UNTIL"),
                ])
                table.rows = result.hosts.map { host in
                    [
                        Table.Cell(host.host), Table.Cell(host.includesSubdomains ? "yes" : "no"),
                        Table.Cell(TimeText.local(host.expiresAt)),
                    ]
                }
                return table.lines(
                    on: terminal,
                    orElse: result.mode.value == .off ? "trust.hsts is off: no host is remembered" : "no hosts")
            }
        }
    }

    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove hosts, until they demand https again.")

        @Argument(help: ArgumentHelp("Names of hosts.", valueName: "host"))
        var hosts: [String] = []

        @Flag(help: "Remove all hosts.")
        var all = false

        @OptionGroup var options: ActionOptions

        mutating func validate() throws {
            if hosts.isEmpty, !all { throw ValidationError("Give hosts or --all.") }
            if !hosts.isEmpty, all { throw ValidationError("Hosts and --all exclude each other.") }
        }

        func run() throws {
            let params = StrictTransportClear.Params(hosts: all ? nil : hosts)
            options.show(try options.open().call(StrictTransportClear.self, params)) { result, _ in
                result.removed.isEmpty
                    ? ["nothing to clear"]
                    : result.removed.map { "\(SafeText.sanitised($0)): cleared" }
                        + result.missing.map { "\(SafeText.sanitised($0)): not known" }
            }
        }
    }
}
