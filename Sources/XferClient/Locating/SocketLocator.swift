import XferSystem

/// Finds the daemon's socket: `--socket`, then `XFERD_SOCKET`, then the user's own daemon, then the system's.
///
/// It reads nothing itself: the caller passes the environment and the uid.
public struct SocketLocator: Sendable {
    public let environment: [String: String]
    public let uid: UInt32
    private let places: UserPlaces

    /// - Parameter accountHome: the home directory of the password database, used when `HOME` is unset.
    public init(environment: [String: String], uid: UInt32, accountHome: String? = nil) {
        self.environment = environment
        self.uid = uid
        places = UserPlaces(environment: environment, uid: uid, accountHome: accountHome)
    }

    /// The daemon that the user selected.
    public enum Instance: Hashable, Sendable {
        /// `XFERD_SOCKET` if set, else the user's daemon, else the system's.
        case automatic
        case user
        case system
        case socket(String)
        /// A daemon on the network.
        case server(ServerAddress)
        /// The agent of a fleet on this machine: `XFERD_FLEET_SOCKET` if set, else the user's, else the system's.
        case fleet
    }

    /// The origin of a path.
    public enum Origin: String, Hashable, Sendable {
        case flag = "--socket"
        case environment = "XFERD_SOCKET"
        case user = "the user's daemon"
        /// The place for users whose session has no runtime directory.
        case userState = "the user's daemon without a session"
        case system = "the system's daemon"
        case server = "--server"
        case fleetEnvironment = "XFERD_FLEET_SOCKET"
        case userFleet = "the user's agent of a fleet"
        case systemFleet = "the system's agent of a fleet"
    }

    /// A socket to try.
    public struct Candidate: Hashable, Sendable {
        /// The socket's path, or the URL of a daemon on the network.
        public let path: String
        public let origin: Origin
        /// True for the place of the user's daemon that sessions such as this one do not use: with a runtime directory
        /// the one without a session, else the one in that directory.
        public var isUnusual = false
    }

    /// The sockets to try, in order.
    ///
    /// The user's daemon has two places. The one without a session comes first: while that daemon runs, another one
    /// that systemd starts behind the session's socket cannot use the database.
    public func candidates(for instance: Instance) -> [Candidate] {
        switch instance {
        case .socket(let path): return [Candidate(path: path, origin: .flag)]
        case .server(let server): return [Candidate(path: server.description, origin: .server)]
        case .user: return userCandidates
        case .system: return [Self.systemCandidate]
        case .fleet:
            if let path = environment["XFERD_FLEET_SOCKET"], !path.isEmpty {
                return [Candidate(path: path, origin: .fleetEnvironment)]
            }
            return [
                Candidate(path: "\(places.runtimeDirectory)/xfer-fleet.sock", origin: .userFleet),
                Candidate(path: "/run/xfer-fleet/xfer-fleet.sock", origin: .systemFleet),
            ]
        case .automatic:
            if let path = environment["XFERD_SOCKET"], !path.isEmpty {
                return [Candidate(path: path, origin: .environment)]
            }
            return userCandidates + [Self.systemCandidate]
        }
    }

    private var userCandidates: [Candidate] {
        let hasSession = environment["XDG_RUNTIME_DIR"]?.hasPrefix("/") == true
        let runtime = Candidate(path: places.runtimeSocket, origin: .user)
        guard let path = places.stateSocket else { return [runtime] }
        return [
            Candidate(path: path, origin: .userState, isUnusual: hasSession),
            Candidate(path: runtime.path, origin: .user, isUnusual: !hasSession),
        ]
    }

    private static let systemCandidate = Candidate(path: "/run/xferd/xferd.sock", origin: .system)
}
