import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl hosts`: `queue.hosts`.
struct HostsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts", abstract: "List hosts: transfers at once, connections, and why not more.",
        discussion: """
            xferd determines how many transfers a host may have at once: WINDOW. Limits of one host are set with \
            `xferctl limit --host HOST`.
            """)

    @OptionGroup var options: VerbOptions

    func run() throws {
        options.show(try options.open().call(QueueHosts.self)) { result, terminal in
            var table = Table(columns: [
                Table.Column(title: "HOST", isFlexible: true), Table.Column(title: "ACTIVE", alignment: .right),
                Table.Column(title: "WINDOW", alignment: .right), Table.Column(title: "CONNS", alignment: .right),
                Table.Column(title: "PROTOCOL"), Table.Column(title: "LATENCY", alignment: .right),
                Table.Column(title: "RATE", alignment: .right), Table.Column(title: "REFUSALS", alignment: .right),
                Table.Column(title: "NOTE"),
            ])
            table.rows = result.hosts.map { host in
                [
                    Table.Cell(host.host), Table.Cell("\(host.active)"), Table.Cell("\(host.window)"),
                    Table.Cell(host.connections.map { "\($0)" } ?? "-"),
                    Table.Cell(host.httpProtocol?.description ?? "-"),
                    Table.Cell(host.latency.map { "\($0) ms" } ?? "-"),
                    Table.Cell(host.rate.map { ByteText.rate($0) } ?? "-"), Table.Cell("\(host.refusals ?? 0)"),
                    Table.Cell(Self.note(host)),
                ]
            }
            return table.lines(on: terminal, orElse: "no hosts")
        }
    }

    /// The host's own limits, else the reason why its window does not grow.
    private static func note(_ host: HostRecord) -> String {
        let limits = [
            host.maxConnections.map { HostText.connections($0) },
            host.requestsPerMinute.map { HostText.requests($0) + " a minute" },
        ].compactMap(\.self)
        guard limits.isEmpty else { return limits.joined(separator: ", ") }
        return switch host.reason?.value {
        case nil, .unneeded: "-"
        case .growing: "grows"
        case .most: "is at its limit"
        case .refused: "refuses more"
        case .noGain: "more is not faster"
        case .sharedAddress: "shares its address's connections"
        case .silent: "does not answer"
        }
    }
}
