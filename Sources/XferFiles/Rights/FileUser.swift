/// A user whose rights count when a path is opened on its behalf.
public struct FileUser: Hashable, Sendable {
    public let uid: UInt32
    /// Its own group; nil when the account database does not know the user.
    public let gid: UInt32?
    /// All groups of the user, the primary one too. Nil when they are unknown: then it gets only what it would get with
    /// any groups.
    public let groups: Set<UInt32>?

    public init(uid: UInt32, gid: UInt32, groups: some Sequence<UInt32>) {
        self.uid = uid
        self.gid = gid
        self.groups = Set(groups).union([gid])
    }

    /// A user whose groups are not known.
    public init(unknownAccount uid: UInt32) {
        self.uid = uid
        gid = nil
        groups = nil
    }
}
