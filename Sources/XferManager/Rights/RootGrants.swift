/// Directories beneath which users that are not operators may write and read, by user and by group.
public struct RootGrants: Hashable, Sendable {
    /// By uid; absolute paths.
    public var users: [UInt32: [String]]
    /// By gid.
    public var groups: [UInt32: [String]]

    public init(users: [UInt32: [String]] = [:], groups: [UInt32: [String]] = [:]) {
        self.users = users
        self.groups = groups
    }

    /// A grant to the user replaces those of its groups; otherwise the grants of all its groups are combined.
    func roots(of uid: UInt32, in groups: Set<UInt32>) -> [String] {
        if let own = users[uid] { return own }
        return groups.sorted().flatMap { self.groups[$0] ?? [] }.reduce(into: []) { roots, root in
            if !roots.contains(root) { roots.append(root) }
        }
    }
}

/// A user's groups, according to the system's account database.
public struct Account: Hashable, Sendable {
    /// Its primary group.
    public var gid: UInt32
    /// All its groups.
    public var groups: [UInt32]

    public init(gid: UInt32, groups: [UInt32]) {
        self.gid = gid
        self.groups = groups
    }
}

/// Looks up a user; nil if the account database does not have it. May block, also on the network.
public typealias AccountLookup = @Sendable (_ uid: UInt32) -> Account?
