import ArgumentParser
import CVersion
import Glibc
import XferDaemon
import XferFleet
import XferModel

/// `xfer-fleet`: the agent that makes this machine's xferd a node of a fleet.
@main
struct XferFleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xfer-fleet",
        abstract: "Agent of a fleet: connects the xferd of this machine to a queue in PostgreSQL.",
        version: XferVersion.text(commit: String(cString: xfer_commit())))

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case run, migrate
    }

    @Argument(help: "run serves until it is stopped; migrate creates or updates the fleet's tables, and ends.")
    var action = Action.run
    @Option(help: "Configuration file, the one of xferd.") var config: String?
    @Option(help: "Directory of xferd's database, which the agent itself does not use.") var stateDir: String?
    @Option(name: .customLong("set"), help: "A setting, for example fleet.slots=8.") var settings: [String] = []
    @Flag(help: "Log as text to standard error.") var foregroundLog = false
    @Flag(help: "Print the effective configuration with the origin of each value.") var printConfig = false
    @Flag(help: "Check the configuration; exit 2 with the line at fault.") var checkConfig = false

    static func main() {
        StandardOutput.openMissing()
        DispatchLog.silence()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let text = fullMessage(for: error)
            let code = exitCode(for: error)
            if code == .validationFailure {
                let message = Array("xfer-fleet: \(text)\n".utf8)
                _ = write(STDERR_FILENO, message, message.count)
                exit(withError: ExitCode(DaemonExit.badConfiguration.rawValue))
            }
            guard code == .success, !text.isEmpty else { exit(withError: error) }
            do throws(StandardOutputError) {
                try StandardOutput.write(text + "\n")
            } catch {
                error.report()
                exit(withError: ExitCode(DaemonExit.failure.rawValue))
            }
        }
    }

    func run() throws {
        let options = DaemonOptions(
            paths: InstancePaths.Flags(configurationFile: config, stateDirectory: stateDir),
            settings: try parsedSettings(), logsToForeground: foregroundLog,
            programVersion: Self.configuration.version)
        let exit =
            if printConfig { OneShotCommands.printConfiguration(options) } else if checkConfig {
                FleetAgent.checkConfiguration(options)
            } else {
                switch action {
                case .run: FleetAgent.run(options)
                case .migrate: FleetAgent.migrate(options)
                }
            }
        ProcessEnd.leave(with: exit)
    }

    private func parsedSettings() throws -> [String: String] {
        try settings.reduce(into: [:]) { parsed, text in
            guard let equals = text.firstIndex(of: "=") else {
                throw ValidationError("--set \(text): expected KEY=VALUE")
            }
            parsed[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
    }
}
