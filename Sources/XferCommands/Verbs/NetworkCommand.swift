import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl network`: the result of `network.status`.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Show the network's state as the daemon observes it.",
        discussion: """
            offline: there is no usable default route; tasks wait until the network changes. metered: \
            tasks added with --no-metered wait. Given an address, also shows if it has a route; nothing is sent.
            """)

    @Argument(help: ArgumentHelp("An IPv4 or IPv6 address; names are not looked up.", valueName: "address"))
    var host: String?

    @OptionGroup var options: VerbOptions

    func run() throws {
        let answer = try options.open().call(NetworkStatus.self, NetworkStatus.Params(host: host))
        options.show(answer) { status, terminal in
            NetworkText(style: terminal.style).lines(
                status, width: terminal.isInteractive ? terminal.size.columns : nil)
        }
    }
}

/// The texts about the network.
struct NetworkText: Sendable {
    let style: Style

    func lines(_ status: NetworkStatus.Result, width: Int?) -> [String] {
        let state = style(attribute(status.state), SafeText.sanitised(status.state.description))
        var lines = [state + (status.monitored ? "" : ": not watched (network.monitor)")]
        if !status.interfaces.isEmpty { lines += table(status.interfaces).lines(style: style, width: width) }
        return lines + (status.route.map { [route($0)] } ?? [])
    }

    private func table(_ interfaces: [NetworkStatus.Interface]) -> Table {
        var table = Table(columns: [
            Table.Column(title: "INTERFACE"), Table.Column(title: "LINK"), Table.Column(title: "ROUTE"),
            Table.Column(title: "METERED"), Table.Column(title: "ADDRESSES", isFlexible: true),
        ])
        for interface in interfaces {
            table.rows.append([
                Table.Cell(interface.name), Table.Cell(interface.running ? "up" : "down"),
                Table.Cell(interface.defaultRoute ? "default" : ""), Table.Cell(interface.metered ? "yes" : ""),
                Table.Cell(interface.addresses.joined(separator: " ")),
            ])
        }
        return table
    }

    private func route(_ route: NetworkStatus.Route) -> String {
        let host = SafeText.sanitised(route.host)
        guard let exists = route.exists else { return "\(host): names are not looked up" }
        guard exists else { return "\(host): no route" }
        let from = [route.source.map { "from \($0)" }, route.interface.map { "over \($0)" }].compactMap(\.self)
        return "\(host): reachable " + SafeText.sanitised(from.joined(separator: " "))
    }

    private func attribute(_ state: OpenEnum<NetworkState>) -> Style.Attribute? {
        switch state {
        case .known(.offline): .red
        case .known(.metered): .yellow
        case .known(.unmetered): .green
        default: nil
        }
    }
}
