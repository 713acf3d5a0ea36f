import ArgumentParser
import CVersion
import Glibc
import XferDaemon
import XferModel

/// `xferd`: the background transfer service.
@main
struct XferdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xferd",
        abstract: "Background transfer service: persists, resumes, verifies and publishes downloads.",
        version: XferVersion.text(commit: String(cString: xfer_commit())))

    @Option(help: "Configuration file.") var config: String?
    @Option(help: "Directory for the database and the lock.") var stateDir: String?
    @Option(help: "Unix socket to listen on.") var socket: String?
    @Option(name: .customLong("set"), help: "A setting, for example queue.max_active=3.") var settings: [String] = []
    @Flag(help: "Log as text to standard error.") var foregroundLog = false
    @Flag(help: "Print the effective configuration with the origin of each value.") var printConfig = false
    @Flag(help: "Check the configuration; exit 2 with the line at fault.") var checkConfig = false
    @Flag(help: "Print the OpenRPC document.") var printSchema = false
    @Flag(help: .hidden) var printStart = false
    @Flag(help: "Check the whole database.") var checkDatabase = false
    @Flag(help: "Set a damaged database aside and salvage what can be read.") var recover = false
    @Option(help: ArgumentHelp("Replace the database by a backup of xferctl backup.", valueName: "file"))
    var restore: String?

    static func main() {
        StandardOutput.openMissing()
        DispatchLog.silence()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            // Help and version are requested output, so they are written like all other output.
            let text = fullMessage(for: error)
            let code = exitCode(for: error)
            // EX_USAGE (sysexits.h) to ArgumentParser; here 2, as for a configuration that is wrong.
            if code == .validationFailure {
                let message = Array("xferd: \(text)\n".utf8)
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
            paths: InstancePaths.Flags(configurationFile: config, stateDirectory: stateDir, socket: socket),
            settings: try parsedSettings(), logsToForeground: foregroundLog,
            programVersion: Self.configuration.version)
        let commands: [(isChosen: Bool, run: (DaemonOptions) -> DaemonExit)] = [
            (printSchema, { _ in OneShotCommands.printSchema() }), (printStart, OneShotCommands.printStart),
            (printConfig, OneShotCommands.printConfiguration), (checkConfig, OneShotCommands.checkConfiguration),
            (checkDatabase, OneShotCommands.checkDatabase), (recover, OneShotCommands.recover),
            (restore != nil, { OneShotCommands.restore($0, from: restore ?? "") }),
        ]
        let run = commands.first(where: \.isChosen)?.run ?? Daemon.run
        ProcessEnd.leave(with: run(options))
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
