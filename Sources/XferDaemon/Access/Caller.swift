public import XferManager
public import XferModel
public import XferProtocol

/// The client's process at the other end of a connection. The kernel reported its ids when the connection was made.
public struct Peer: Hashable, Sendable {
    /// The user's id, from `SO_PEERCRED` (socket(7)).
    public let uid: UInt32
    public let gid: UInt32
    /// Supplementary groups, `SO_PEERGROUPS`.
    public let groups: [UInt32]

    public init(uid: UInt32, gid: UInt32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }
}

/// A peer that may call methods, with its permissions. `AccessPolicy` determines the permissions for every call, so
/// that reloaded settings take effect at once.
public struct Caller: Hashable, Sendable {
    public let peer: Peer
    /// True if the peer's user is the daemon's own user or root.
    public let isOperator: Bool
    /// Directories in which the caller's tasks may write and read, including their subdirectories.
    public let roots: [String]
    /// The highest number of unfinished tasks that the caller may have; nil means no limit.
    public let maxTasks: Int?
    public let maxPriority: Priority
    /// The confinement of tasks that the caller adds or changes, or nil if they are not confined.
    public private(set) var confinement: CallerConfinement?

    /// The same caller without the rights of an operator and confined, for a token whose scope is not `operate`.
    ///
    /// - Parameter directory: the token's; nil is the directory for downloads.
    func confined(to directory: String?) -> Caller {
        var caller = Caller(
            peer: peer, isOperator: false, roots: roots, maxTasks: maxTasks, maxPriority: maxPriority)
        caller.confinement = directory.map { .directory($0) } ?? .downloads
        return caller
    }

    /// The owner of the caller's tasks.
    public var owner: Owner { Owner(uid: peer.uid) }

    /// True if the caller may call methods with this access. If not, the daemon answers `permission_denied`.
    public func mayCall(_ access: MethodAccess) -> Bool {
        switch access {
        case .users, .owners: true
        case .operators: isOperator
        }
    }
}
