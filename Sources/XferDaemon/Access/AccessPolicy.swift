public import XferManager
import XferModel

/// Decides which users may call: the daemon's own uid and root as operators, others when the configuration allows them.
public struct AccessPolicy: Hashable, Sendable {
    /// The reason why a peer is refused.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The caller has uid 65534, which every unmapped user has in a user namespace (user_namespaces(7)).
        case overflowUser
        /// No setting allows the user.
        case notAllowed(uid: UInt32)

        public var description: String {
            switch self {
            case .overflowUser: "uid 65534 represents every unknown user and is never allowed"
            case .notAllowed(let uid):
                "user \(uid) is not allowed: only root, the daemon's own user and those in access.users or access.groups are"
            }
        }
    }

    /// The uid the kernel shows where it has no mapping, `/proc/sys/kernel/overflowuid`'s default.
    public static let overflowUID: UInt32 = 65534

    private let ownUID: UInt32
    private let operatorRoots: [String]
    private let ownRoots: [String]
    private let users: [UInt32: Settings.Grant]
    private let groups: [UInt32: Settings.Grant]
    /// The names of users in the settings, by uid.
    private let names: [UInt32: String]

    /// - Parameters:
    ///   - ownUID: the daemon's effective uid.
    ///   - operatorRoots: `download.roots`.
    ///   - ownRoots: the directories of local callers with the daemon's own uid; nil means `operatorRoots`.
    public init(
        ownUID: UInt32, operatorRoots: [String], ownRoots: [String]? = nil, users: [UInt32: Settings.Grant] = [:],
        groups: [UInt32: Settings.Grant] = [:], names: [UInt32: String] = [:]
    ) {
        self.ownUID = ownUID
        self.operatorRoots = operatorRoots
        self.ownRoots = ownRoots ?? operatorRoots
        self.users = users
        self.groups = groups
        self.names = names
    }

    /// The places where users who are not operators may write and read.
    public var grants: RootGrants {
        RootGrants(users: users.mapValues(\.roots), groups: groups.mapValues(\.roots), names: names)
    }

    /// The caller for a peer; throws the reason of a refusal.
    ///
    /// A grant to the user itself applies alone; otherwise the grants of all its groups are united.
    ///
    /// - Parameter isLocal: true if the kernel identifies the caller as that user; false for a token.
    public func caller(_ peer: Peer, isLocal: Bool = false) throws(Refusal) -> Caller {
        guard peer.uid != Self.overflowUID else { throw .overflowUser }
        if peer.uid == ownUID || peer.uid == 0 {
            let roots = isLocal && peer.uid == ownUID ? ownRoots : operatorRoots
            return Caller(peer: peer, isOperator: true, roots: roots, maxTasks: nil, maxPriority: .high)
        }
        let granted = users[peer.uid] ?? union(of: Set([peer.gid] + peer.groups).sorted().compactMap { groups[$0] })
        guard let granted else { throw .notAllowed(uid: peer.uid) }
        return Caller(
            peer: peer, isOperator: false, roots: granted.roots, maxTasks: granted.maxTasks,
            maxPriority: granted.maxPriority)
    }

    private func union(of grants: [Settings.Grant]) -> Settings.Grant? {
        guard var result = grants.first else { return nil }
        for grant in grants.dropFirst() {
            result.roots += grant.roots.filter { !result.roots.contains($0) }
            result.maxTasks = max(result.maxTasks, grant.maxTasks)
            result.maxPriority = max(result.maxPriority, grant.maxPriority)
        }
        return result
    }
}
