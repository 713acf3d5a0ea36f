/// The command-line options of `xferd`.
public struct DaemonOptions: Hashable, Sendable {
    public var paths: InstancePaths.Flags
    /// Settings by key path, as `--set queue.max_active=3` gives them.
    public var settings: [String: String]
    /// Text with timestamps on standard error, whatever the configuration says.
    public var logsToForeground: Bool

    public init(paths: InstancePaths.Flags, settings: [String: String] = [:], logsToForeground: Bool = false) {
        self.paths = paths
        self.settings = settings
        self.logsToForeground = logsToForeground
    }
}

/// Exit codes of `xferd`.
public enum DaemonExit: Int32, Sendable {
    case success = 0
    /// An external failure; trying again may help.
    case failure = 1
    /// `--check-config` found a fault.
    case badConfiguration = 2
    /// An operator has to repair the configuration or the database (EX_CONFIG, sysexits.h): the unit does not restart
    /// after it.
    case needsAttention = 78
}
