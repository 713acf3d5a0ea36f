/// Finds the daemon's socket: `--socket`, then `XFERD_SOCKET`, then the user's own daemon, then the system's.
///
/// It reads nothing itself: the caller passes the environment and the uid.
public struct SocketLocator: Sendable {
    public let environment: [String: String]
    public let uid: UInt32

    public init(environment: [String: String], uid: UInt32) {
        self.environment = environment
        self.uid = uid
    }

    /// Which daemon the user asked for.
    public enum Instance: Hashable, Sendable {
        /// `XFERD_SOCKET` if set, else the user's daemon, else the system's.
        case automatic
        case user
        case system
        case socket(String)
        /// A daemon on the network.
        case server(ServerAddress)
    }

    /// Where a path comes from.
    public enum Origin: String, Hashable, Sendable {
        case flag = "--socket"
        case environment = "XFERD_SOCKET"
        case user = "the user's daemon"
        case system = "the system's daemon"
        case server = "--server"
    }

    /// A socket to try.
    public struct Candidate: Hashable, Sendable {
        /// The socket's path, or the URL of a daemon on the network.
        public let path: String
        public let origin: Origin
    }

    /// The sockets to try, in order. Only `automatic` without `XFERD_SOCKET` has a second one.
    public func candidates(for instance: Instance) -> [Candidate] {
        switch instance {
        case .socket(let path): return [Candidate(path: path, origin: .flag)]
        case .server(let server): return [Candidate(path: server.description, origin: .server)]
        case .user: return [userCandidate]
        case .system: return [Self.systemCandidate]
        case .automatic:
            if let path = environment["XFERD_SOCKET"], !path.isEmpty {
                return [Candidate(path: path, origin: .environment)]
            }
            return [userCandidate, Self.systemCandidate]
        }
    }

    /// The socket in the user's runtime directory: `XDG_RUNTIME_DIR` if that is an absolute path, else `/run/user/UID`.
    private var userCandidate: Candidate {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(uid)"
        return Candidate(path: "\(runtime)/xferd.sock", origin: .user)
    }

    private static let systemCandidate = Candidate(path: "/run/xferd/xferd.sock", origin: .system)
}
