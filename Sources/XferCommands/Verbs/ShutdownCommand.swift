import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl shutdown`: `daemon.shutdown`.
struct ShutdownCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shutdown", abstract: "Stop the daemon.",
        discussion: """
            By default everything is suspended and continues at the next start. Where systemd manages the daemon, \
            use systemctl to keep it stopped.
            """)

    @Option(
        help: "suspend: stop now, continue at the next start; drain: first finish running tasks; cancel: cancel all.")
    var mode = EnumArgument(ShutdownMode.suspend)

    @OptionGroup var options: ActionOptions

    func run() throws {
        let answer = try options.open().call(DaemonShutdown.self, DaemonShutdown.Params(mode: mode.word))
        options.show(answer) { result, _ in
            switch result.mode.value {
            case .suspend, nil: ["the daemon stops; unfinished tasks continue at its next start"]
            case .drain: ["the daemon stops when the running tasks have ended; it accepts no new tasks"]
            case .cancel: ["the daemon cancels every unfinished task and stops"]
            }
        }
    }
}
