import Glibc
import XferManager
import XferProtocol
import XferSystem

/// Commands of `xferd` that print or check something and end.
public enum OneShotCommands {
    /// Prints the effective configuration with the origin of each value.
    public static func printConfiguration(_ options: DaemonOptions) -> DaemonExit {
        report { try StandardOutput.write(try Instance(options).loaded.yaml) }
    }

    /// Checks the configuration; prints its faults with line and column.
    public static func checkConfiguration(_ options: DaemonOptions) -> DaemonExit {
        report {
            let instance = try Instance(options, refusesEntries: true)
            for warning in instance.loaded.warnings + instance.missing.map(\.description) {
                Daemon.complain("warning: \(warning)")
            }
            for entry in instance.loaded.settings.policies {
                do throws(PolicyTextError) {
                    try PolicyText.check(entry.policy, at: Clocks.wall())
                } catch {
                    Daemon.complain("warning: \(error.description); refused unless it applies already")
                }
            }
            let file = instance.paths.configurationFile
            let isMissing = try ConfigurationFile.read(instance.paths) == nil
            let rest =
                isMissing
                ? ": there is no such file; the defaults, the environment and the options are valid"
                : ": the configuration is valid"
            try StandardOutput.write("\(file)\(rest)\(systemHint(besides: instance.paths))\n")
        }
    }

    /// A reminder of the system's configuration, which administrators mean and a check as a user does not read.
    private static func systemHint(besides paths: InstancePaths) -> String {
        let system = "/etc/xferd/config.yaml"
        guard paths.kind == .user, !paths.isConfigurationFileRequired, geteuid() == 0, access(system, F_OK) == 0 else {
            return ""
        }
        return "; to check the system's: xferd --config \(system) --check-config"
    }

    /// Prints the facts that `xferctl` needs before it starts a daemon: `client.start`, the state directory and the
    /// socket, one per line.
    public static func printStart(_ options: DaemonOptions) -> DaemonExit {
        report {
            let instance = try Instance(options)
            let lines = [
                instance.loaded.settings.client.start.rawValue, instance.paths.stateDirectory, instance.paths.socket,
            ]
            try StandardOutput.write(lines.map { $0 + "\n" }.joined())
        }
    }

    /// Prints the OpenRPC document.
    public static func printSchema() -> DaemonExit {
        report(fault: .failure) { try StandardOutput.write(OpenRPCDocument.text) }
    }

    /// Checks the database thoroughly.
    public static func checkDatabase(_ options: DaemonOptions) -> DaemonExit {
        report(fault: .needsAttention) {
            let path = try Instance(options).paths.stateDirectory
            try DatabaseMaintenance.check(stateDirectory: path)
            try StandardOutput.write("\(path): the database is intact\n")
        }
    }

    /// Sets a damaged database aside and salvages the readable rows.
    public static func recover(_ options: DaemonOptions) -> DaemonExit {
        report(fault: .failure) {
            let report = try DatabaseMaintenance.recover(stateDirectory: try Instance(options).paths.stateDirectory)
            try StandardOutput.write("\(report)\n")
        }
    }

    /// Replaces the database by a backup.
    public static func restore(_ options: DaemonOptions, from backup: String) -> DaemonExit {
        report(fault: .failure) {
            let state = try Instance(options).paths.stateDirectory
            try StandardOutput.write("\(try DatabaseMaintenance.restore(backup, stateDirectory: state))\n")
        }
    }

    private static func report(fault: DaemonExit = .badConfiguration, _ body: () throws -> Void) -> DaemonExit {
        do {
            try body()
            return .success
        } catch let error as StandardOutputError {
            error.report()
            return .failure
        } catch {
            Daemon.complain("\(error)")
            return fault
        }
    }
}
