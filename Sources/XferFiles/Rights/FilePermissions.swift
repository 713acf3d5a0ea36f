/// The permissions of users on a file, from its mode bits and its access control list.
struct FilePermissions: Hashable {
    /// Bits as in a mode: 4 read, 2 write, 1 search a directory or execute.
    struct Access: OptionSet, Hashable {
        let rawValue: UInt16

        static let read = Access(rawValue: 4)
        static let write = Access(rawValue: 2)
        static let search = Access(rawValue: 1)
    }

    enum Decision: Hashable {
        case permitted
        case denied
        /// Something other than mode bits and a POSIX list decides about this file.
        case undecided
    }

    enum List: Hashable {
        case none
        case list(AccessList)
        /// A list of any kind may exist.
        case unknown
    }

    let owner: UInt32
    let group: UInt32
    /// Permission bits.
    let mode: UInt16
    let list: List

    /// The decision of acl(5), "Access check algorithm", and path_resolution(7) for a user without capabilities.
    func decision(about wanted: Access, for user: FileUser) -> Decision {
        switch list {
        case .unknown: return .undecided
        case .none: return allowsByMode(wanted, for: user) ? .permitted : .denied
        case .list(let list): return allows(wanted, for: user, by: list) ? .permitted : .denied
        }
    }

    private func allowsByMode(_ wanted: Access, for user: FileUser) -> Bool {
        let (owners, groups, others) = (grants(mode >> 6, wanted), grants(mode >> 3, wanted), grants(mode, wanted))
        if user.uid == owner { return owners }
        guard let known = user.groups else { return groups && others }
        return known.contains(group) ? groups : others
    }

    private func allows(_ wanted: Access, for user: FileUser, by list: AccessList) -> Bool {
        if user.uid == owner { return grants(list.permissions(.owner), wanted) }
        let mask = list.permissions(.mask) ?? 7
        if let named = list.permissions(.user(user.uid)) { return grants(named & mask, wanted) }
        let others = grants(list.permissions(.other), wanted)
        let groups = list.entries.filter { entry in
            switch entry.tag {
            case .owningGroup: user.groups?.contains(group) ?? true
            case .group(let id): user.groups?.contains(id) ?? true
            case .owner, .user, .mask, .other: false
            }
        }.map { grants($0.permissions & mask, wanted) }
        // Granted only if every group and none at all would be granted it.
        if user.groups == nil { return others && groups.allSatisfy(\.self) }
        return groups.isEmpty ? others : groups.contains(true)
    }

    private func grants(_ bits: UInt16?, _ wanted: Access) -> Bool {
        wanted.isSubset(of: Access(rawValue: (bits ?? 0) & 7))
    }
}
