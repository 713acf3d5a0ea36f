public import XferModel
public import XferProtocol

/// The client's process at the other end of a connection, as the kernel reported it when the connection was made.
public struct Peer: Hashable, Sendable {
    /// `SO_PEERCRED` (socket(7)).
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

/// A peer that may call, with its permissions. Decided anew for every call, so that a reload takes effect at once.
public struct Caller: Hashable, Sendable {
    public let peer: Peer
    /// The daemon's own user or root.
    public let isOperator: Bool
    /// Directories beneath which its tasks may write and read.
    public let roots: [String]
    /// Unfinished tasks it may have; nil is unlimited.
    public let maxTasks: Int?
    public let maxPriority: Priority

    /// The owner of its tasks.
    public var owner: Owner { Owner(uid: peer.uid) }

    /// Whether it may call a method with that access at all; otherwise the answer is `permission_denied`.
    public func mayCall(_ access: MethodAccess) -> Bool {
        switch access {
        case .users, .owners: true
        case .operators: isOperator
        }
    }
}
