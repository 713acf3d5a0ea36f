import ArgumentParser
import XferProtocol

/// `xferctl status`: the result of `daemon.status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which daemon answers, and its state.")

    @OptionGroup var options: VerbOptions

    func run() throws {
        options.show(try options.open().call(DaemonStatus.self)) { status, terminal in
            QueueText(style: terminal.style).lines(status)
        }
    }
}
