import CLinux
import Glibc

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
        /// Rules other than mode bits and a POSIX list apply to this file.
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

    /// The decision of acl(5), "Access check algorithm", and path_resolution(7) for a user without capabilities; root
    /// has those that pass over mode bits and lists.
    func decision(about wanted: Access, for user: FileUser) -> Decision {
        if user.uid == 0, list != .unknown { return .permitted }
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

extension FilePermissions {
    /// Reads the permissions of an open file; O_PATH is enough.
    init(of handle: Descriptor, _ facts: stat) {
        self.init(
            owner: facts.st_uid, group: facts.st_gid, mode: UInt16(clamping: facts.st_mode & 0o777),
            list: Self.list(of: handle))
    }

    private static func list(of handle: Descriptor) -> List {
        guard xfer_decides_by_mode(handle.raw) else { return .unknown }
        // By way of /proc: fgetxattr(2) refuses O_PATH.
        let path = "/proc/self/fd/\(handle.raw)"
        var bytes = [UInt8](repeating: 0, count: 4 + 8 * 64)
        for _ in 0..<4 {
            let count = xfer_read_attribute(path, "system.posix_acl_access", &bytes, UInt(bytes.count))
            if count >= 0 { return AccessList(Array(bytes[..<count])).map(List.list) ?? .unknown }
            switch errno {
            case ENODATA, EOPNOTSUPP: return .none
            case ERANGE where bytes.count < 1 << 16: bytes = [UInt8](repeating: 0, count: 1 << 16)
            case EINTR: continue
            default: return .unknown
            }
        }
        return .unknown
    }
}

/// A POSIX access control list (acl(5)) as the kernel returns it in the attribute `system.posix_acl_access`.
struct AccessList: Hashable {
    enum Tag: Hashable {
        case owner, user(UInt32), owningGroup, group(UInt32), mask, other
    }

    struct Entry: Hashable {
        let tag: Tag
        /// The permissions: 4 read, 2 write, 1 search or execute.
        let permissions: UInt16
    }

    let entries: [Entry]

    init(entries: [Entry]) { self.entries = entries }

    /// Parses version 2, then eight bytes for each entry, little-endian (linux/posix_acl_xattr.h). Returns nil for
    /// other bytes.
    init?(_ bytes: [UInt8]) {
        func word(_ offset: Int, _ count: Int) -> UInt32 {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt32(clamping: $1) }
        }
        guard bytes.count >= 4, bytes.count % 8 == 4, word(0, 4) == 2 else { return nil }
        var entries: [Entry] = []
        for offset in stride(from: 4, to: bytes.count, by: 8) {
            let (permissions, id) = (word(offset + 2, 2), word(offset + 4, 4))
            guard permissions <= 7 else { return nil }
            let tag: Tag
            switch word(offset, 2) {
            case 0x01: tag = .owner
            case 0x02: tag = .user(id)
            case 0x04: tag = .owningGroup
            case 0x08: tag = .group(id)
            case 0x10: tag = .mask
            case 0x20: tag = .other
            default: return nil
            }
            entries.append(Entry(tag: tag, permissions: UInt16(clamping: permissions)))
        }
        self.entries = entries
    }

    func permissions(_ tag: Tag) -> UInt16? { entries.first { $0.tag == tag }?.permissions }
}

/// A user whose rights apply when a path is opened on its behalf.
public struct FileUser: Hashable, Sendable {
    public let uid: UInt32
    /// The user's own group; nil when the account database does not know the user.
    public let gid: UInt32?
    /// All groups of the user, the primary one too. Nil when they are unknown: then the user has only the rights that
    /// do not depend on groups.
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
