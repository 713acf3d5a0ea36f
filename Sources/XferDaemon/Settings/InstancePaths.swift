import XferSystem

/// The paths of an instance, from flags and the environment alone.
///
/// In order of precedence: flags, `XFERD_*`, systemd's variables (systemd.exec(5), `STATE_DIRECTORY` and others), the
/// XDG Base Directory Specification and its defaults.
public struct InstancePaths: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case user, system }

    /// `system` when the service manager of the system set a state directory below `/var/lib`.
    public let kind: Kind
    /// Home of the daemon's user, for `~` in the configuration.
    public let home: String
    /// The directory of the database, the cache and the lock.
    public let stateDirectory: String
    /// The socket that is created if none is inherited.
    public let socket: String
    public let configurationFile: String
    /// True if the caller specified the configuration file, which then has to exist.
    public let isConfigurationFileRequired: Bool
    /// The download directory when neither the configuration nor the task sets one.
    public let downloadDirectory: String
    /// The only download root when the configuration names none.
    public let defaultRoot: String
    /// The service manager's directory for credentials.
    public let credentialsDirectory: String?

    /// Paths from the command line; nil where it has none. Relative paths are below `currentDirectory`, which is the
    /// process's by default.
    public struct Flags: Hashable, Sendable {
        public var configurationFile: String?
        public var stateDirectory: String?
        public var socket: String?
        public var currentDirectory: String

        public init(
            configurationFile: String? = nil, stateDirectory: String? = nil, socket: String? = nil,
            currentDirectory: String? = nil
        ) {
            self.configurationFile = configurationFile
            self.stateDirectory = stateDirectory
            self.socket = socket
            self.currentDirectory = currentDirectory ?? WorkingDirectory.path ?? "/"
        }
    }

    /// - Parameters:
    ///   - accountHome: the home directory of the password database, used when `HOME` is unset.
    ///   - hasDirectory: true if the socket can be created in a directory. Without a runtime directory it is in the
    ///     state directory.
    public init(
        flags: Flags = Flags(), environment: [String: String], uid: UInt32, accountHome: String? = nil,
        hasDirectory: (String) -> Bool = { _ in true }
    ) throws(InstancePathsError) {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        /// The directories in a variable; systemd joins several with colons.
        func managed(_ name: String) -> [String] {
            absolute(name)?.split(separator: ":").map { Self.normalized(String($0)) } ?? []
        }
        func chosen(_ flag: String?, _ variable: String) -> String? {
            (flag ?? environment[variable]).flatMap { path in
                path.isEmpty ? nil : path.hasPrefix("/") ? path : flags.currentDirectory + "/" + path
            }
        }
        // Since version 251 systemd sorts the directories that a unit names, so their names distinguish them.
        let managedStates = managed("STATE_DIRECTORY")
        let managedState = managedStates.first { !$0.hasSuffix("/downloads") } ?? managedStates.first
        kind = managedState?.hasPrefix("/var/lib/") == true ? .system : .user
        let namedState = chosen(flags.stateDirectory, "XFERD_STATE_DIR") ?? managedState
        // Where everything is named, as in a container, a user without an account needs no home.
        guard let home = absolute("HOME") ?? accountHome ?? namedState else { throw .noHome(uid: uid) }
        self.home = Self.normalized(home)
        stateDirectory = Self.normalized(
            namedState ?? (absolute("XDG_STATE_HOME") ?? home + "/.local/state") + "/xferd")
        let places = UserPlaces(environment: environment, uid: uid, accountHome: accountHome)
        let directory = hasDirectory(places.runtimeDirectory) ? places.runtimeDirectory : stateDirectory
        socket = Self.normalized(
            chosen(flags.socket, "XFERD_SOCKET") ?? managed("RUNTIME_DIRECTORY").first.map { $0 + "/xferd.sock" }
                ?? directory + "/xferd.sock")
        let named = chosen(flags.configurationFile, "XFERD_CONFIG")
        isConfigurationFileRequired = named != nil
        configurationFile = Self.normalized(
            named ?? managed("CONFIGURATION_DIRECTORY").first.map { $0 + "/config.yaml" }
                ?? (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/xferd/config.yaml")
        credentialsDirectory = absolute("CREDENTIALS_DIRECTORY").map(Self.normalized)
        switch kind {
        case .user:
            downloadDirectory = Self.normalized(home + "/Downloads")
            defaultRoot = self.home
        case .system:
            let given = managedStates.first { $0 != managedState && $0.hasSuffix("/downloads") }
            downloadDirectory = given ?? (managedState ?? stateDirectory) + "/downloads"
            defaultRoot = downloadDirectory
        }
        guard socket.utf8.count <= UnixAddress.longestPath else { throw .socketPathTooLong(socket) }
    }

    /// The variables of the environment that place an instance; all others beginning with `XFERD_` are settings.
    public static let environmentNames = ["XFERD_CONFIG", "XFERD_STATE_DIR", "XFERD_SOCKET"]

    /// Directories that are never source or destination of a task, even if the roots allow them.
    ///
    /// If downloads are below the state directory, only its `cache` and `spool` are forbidden. The directory of a
    /// configuration file that was given is forbidden only if its name is `xferd`: others, such as /etc, contain other
    /// things, too.
    public var forbiddenDirectories: [String] {
        let holdsDownloads = (downloadDirectory + "/").hasPrefix(stateDirectory + "/")
        let state = holdsDownloads ? ["/cache", "/spool"].map { stateDirectory + $0 } : [stateDirectory]
        let configuration = Self.directory(of: configurationFile)
        let isOwn = !isConfigurationFileRequired || configuration.hasSuffix("/xferd")
        return state + (isOwn ? [configuration] : []) + (credentialsDirectory.map { [$0] } ?? [])
    }

    /// The directory that contains a path's last component.
    static func directory(of path: String) -> String {
        let directory = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        return directory.isEmpty ? "/" : String(directory)
    }

    /// Removes empty and `.` components; `..` stays, since text alone cannot resolve it.
    static func normalized(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}

/// The reason why the paths of an instance cannot be determined.
public enum InstancePathsError: Error, Hashable, Sendable, CustomStringConvertible {
    case noHome(uid: UInt32)
    case socketPathTooLong(String)

    public var description: String {
        switch self {
        case .noHome(let uid):
            "HOME is not set and user \(uid) has no home directory: set HOME or XFERD_STATE_DIR (--state-dir)"
        case .socketPathTooLong(let path):
            "the socket path has \(path.utf8.count) bytes, at most \(UnixAddress.longestPath) fit: \(path)"
        }
    }
}
