/// Directories beneath which those who are no operators may write and read, by user and by group.
public struct RootGrants: Hashable, Sendable {
    /// By uid; absolute paths.
    public var users: [UInt32: [String]]
    /// By gid.
    public var groups: [UInt32: [String]]

    public init(users: [UInt32: [String]] = [:], groups: [UInt32: [String]] = [:]) {
        self.users = users
        self.groups = groups
    }

    /// A grant to the user itself stands alone; otherwise those of all its groups are united.
    func roots(of uid: UInt32, in groups: Set<UInt32>) -> [String] {
        if let own = users[uid] { return own }
        return groups.sorted().flatMap { self.groups[$0] ?? [] }.reduce(into: []) { roots, root in
            if !roots.contains(root) { roots.append(root) }
        }
    }
}

/// A user as the system's account database has it.
public struct Account: Hashable, Sendable {
    /// Its own group.
    public var gid: UInt32
    /// All groups it is in.
    public var groups: [UInt32]

    public init(gid: UInt32, groups: [UInt32]) {
        self.gid = gid
        self.groups = groups
    }
}

/// Looks a user up; nil when nobody knows it. May block, on the network too.
public typealias AccountLookup = @Sendable (_ uid: UInt32) -> Account?
