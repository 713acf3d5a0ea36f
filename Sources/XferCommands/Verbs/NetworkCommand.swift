import ArgumentParser
import XferProtocol

/// `xferctl network`: what `network.status` says.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Show how the daemon sees the network.",
        discussion: """
            offline: no default route leads anywhere; what cannot be reached waits until something changes. metered: tasks \
            added with --no-metered wait. Given an address, also whether there is a way to it; nothing is sent.
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
