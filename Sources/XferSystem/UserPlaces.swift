import Glibc

/// The directories and sockets of a user's own daemon, taken from the environment and the account database.
public struct UserPlaces: Hashable, Sendable {
    /// `XDG_RUNTIME_DIR` if that is an absolute path, else `/run/user/UID`. It may be missing: a login session creates
    /// it.
    public let runtimeDirectory: String
    /// The directory of the database, or nil if neither the environment nor the account specifies a home.
    public let stateDirectory: String?

    /// - Parameter accountHome: the home directory in the password database, used when `HOME` is unset.
    public init(environment: [String: String], uid: UInt32, accountHome: String? = nil) {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        runtimeDirectory = absolute("XDG_RUNTIME_DIR") ?? "/run/user/\(uid)"
        let home = absolute("HOME") ?? accountHome
        stateDirectory =
            absolute("XFERD_STATE_DIR")
            ?? (absolute("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }).map { $0 + "/xferd" }
    }

    /// The variables that `init` reads.
    public static let environmentNames = ["XDG_RUNTIME_DIR", "HOME", "XFERD_STATE_DIR", "XDG_STATE_HOME"]

    /// The socket of a daemon whose user has a login session, which creates the runtime directory.
    public var runtimeSocket: String { runtimeDirectory + "/xferd.sock" }

    /// The socket of a daemon without a login session: in containers, under cron, after `su`.
    public var stateSocket: String? { stateDirectory.map { $0 + "/xferd.sock" } }

    /// The log of a daemon that `xferctl` started.
    public var log: String? { stateDirectory.map { $0 + "/xferd.log" } }

    /// The places of this process's user.
    public static func ofThisProcess() -> UserPlaces {
        var environment: [String: String] = [:]
        for name in environmentNames { environment[name] = getenv(name).map { String(cString: $0) } }
        return UserPlaces(environment: environment, uid: getuid(), accountHome: accountHome)
    }

    /// The home of this process's user in the password database. May block on the network.
    public static var accountHome: String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
    }

    /// True if a user can keep a socket in a directory: it exists, is the user's own and can be written.
    public static func isOwnDirectory(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR && facts.st_uid == geteuid()
            && access(path, W_OK | X_OK) == 0
    }
}

/// The service managers that can start a daemon on this machine.
public struct ServiceManagers: Hashable, Sendable {
    /// True if systemd manages the machine.
    public var hasSystem: Bool
    /// True if this user has a manager of its own: a login session or lingering.
    public var hasUser: Bool

    public init(hasSystem: Bool, hasUser: Bool) {
        self.hasSystem = hasSystem
        self.hasUser = hasUser
    }

    /// The service managers that run now.
    public static func ofThisMachine(_ places: UserPlaces = .ofThisProcess()) -> ServiceManagers {
        ServiceManagers(
            hasSystem: access("/run/systemd/system", F_OK) == 0,
            hasUser: access(places.runtimeDirectory + "/systemd/private", F_OK) == 0)
    }
}
