import XferManager
import XferProtocol

/// What `xferd` does instead of running: prints or checks something and ends.
public enum OneShotCommands {
    /// The effective configuration with where each value came from.
    public static func printConfiguration(_ options: DaemonOptions) -> DaemonExit {
        report { print(try Instance(options).loaded.yaml, terminator: "") }
    }

    /// Whether the configuration is right; its faults with line and column otherwise.
    public static func checkConfiguration(_ options: DaemonOptions) -> DaemonExit {
        report {
            let instance = try Instance(options)
            for warning in instance.loaded.warnings { Daemon.complain("warning: \(warning)") }
            for entry in instance.loaded.settings.trust.policies {
                do throws(PolicyTextError) {
                    try PolicyText.check(entry.policy, at: Clocks.wall())
                } catch {
                    Daemon.complain("warning: \(error.description); refused unless it is in force already")
                }
            }
            print("\(instance.paths.configurationFile): the configuration is right")
        }
    }

    /// The OpenRPC document.
    public static func printSchema() -> DaemonExit {
        print(OpenRPCDocument.text, terminator: "")
        return .success
    }

    /// A thorough check of the database.
    public static func checkDatabase(_ options: DaemonOptions) -> DaemonExit {
        report(fault: .needsAttention) {
            let path = try Instance(options).paths.stateDirectory
            try DatabaseCare.check(stateDirectory: path)
            print("\(path): the database is sound")
        }
    }

    /// Sets a damaged database aside and salvages what can be read.
    public static func recover(_ options: DaemonOptions) -> DaemonExit {
        report(fault: .failure) {
            print(try DatabaseCare.recover(stateDirectory: try Instance(options).paths.stateDirectory))
        }
    }

    private static func report(fault: DaemonExit = .badConfiguration, _ body: () throws -> Void) -> DaemonExit {
        do {
            try body()
            return .success
        } catch {
            Daemon.complain("\(error)")
            return fault
        }
    }
}
