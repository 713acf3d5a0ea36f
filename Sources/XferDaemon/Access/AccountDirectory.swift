import Glibc
public import XferManager

/// Looks names up in the system's user and group databases.
public struct AccountDirectory: Sendable {
    public let uid: @Sendable (_ user: String) -> UInt32?
    public let gid: @Sendable (_ group: String) -> UInt32?

    public init(
        uid: @escaping @Sendable (_ user: String) -> UInt32?, gid: @escaping @Sendable (_ group: String) -> UInt32?
    ) {
        self.uid = uid
        self.gid = gid
    }

    /// The directory of getpwnam_r(3) and getgrnam_r(3). It uses the services of nsswitch.conf, so it may block on the
    /// network.
    public static let system = AccountDirectory(
        uid: { name in
            var entry = passwd()
            return lookUp { buffer, size in
                var found: UnsafeMutablePointer<passwd>?
                let status = getpwnam_r(name, &entry, buffer, size, &found)
                return (status, found?.pointee.pw_uid)
            }
        },
        gid: { name in
            var entry = group()
            return lookUp { buffer, size in
                var found: UnsafeMutablePointer<group>?
                let status = getgrnam_r(name, &entry, buffer, size, &found)
                return (status, found?.pointee.gr_gid)
            }
        })

    /// A user's own group and all its groups, by getpwuid_r(3) and getgrouplist(3); may block on the network, too.
    public static func account(_ uid: UInt32) -> Account? {
        var entry = passwd()
        return lookUp { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwuid_r(uid, &entry, buffer, size, &found)
            guard status == 0, let found, let name = found.pointee.pw_name else { return (status, nil) }
            let gid = found.pointee.pw_gid
            return (0, groups(of: name, gid).map { Account(gid: gid, groups: $0) })
        }
    }

    /// The groups of a user, or nil if the list is too long.
    private static func groups(of name: UnsafePointer<CChar>, _ gid: UInt32) -> [UInt32]? {
        var count: Int32 = 64
        while count <= 1 << 20 {
            var groups = [gid_t](repeating: 0, count: Int(clamping: count))
            let room = count
            if getgrouplist(name, gid, &groups, &count) >= 0 {
                return Array(groups.prefix(Int(clamping: max(0, count))))
            }
            // The required size, where the library reports it.
            count = max(count, room * 2)
        }
        return nil
    }

    /// The home directory of a user in the password database.
    public static func home(of uid: UInt32) -> String? {
        var entry = passwd()
        return lookUp { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwuid_r(uid, &entry, buffer, size, &found)
            return (status, found.flatMap { $0.pointee.pw_dir }.map { String(cString: $0) })
        }
    }

    /// The user's name in the password database, which is the same on all machines of a fleet.
    package static func name(of uid: UInt32) -> String? {
        var entry = passwd()
        return lookUp { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwuid_r(uid, &entry, buffer, size, &found)
            return (status, found.flatMap { $0.pointee.pw_name }.map { String(cString: $0) })
        }
    }

    /// Calls with a growing buffer: an entry with many members may exceed any fixed size.
    private static func lookUp<Value>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> (status: Int32, value: Value?)
    ) -> Value? {
        var size = 4096
        while size <= 1 << 24 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            let (status, value) = body(buffer, size)
            if status != ERANGE { return status == 0 ? value : nil }
            size *= 4
        }
        return nil
    }
}

extension AccessPolicy {
    /// A fault of an entry of `access.users` or `access.groups`.
    struct EntryFault: Hashable, CustomStringConvertible {
        /// The key of the settings: `access.users` or `access.groups`.
        let key: String
        let name: String
        let reason: String
        /// The effect on the service, which starts all the same.
        let effect: String

        var description: String { "\(key).\(name): \(reason), \(effect)" }
    }

    /// The policy that the settings describe, and warnings about entries that were left out.
    ///
    /// An entry whose user or group does not exist is left out with a warning: a deleted account must not stop the
    /// service, and the missing entry grants nothing. Grants to root, to the daemon's own user or to uid 65534 change
    /// nothing.
    ///
    /// - Parameter ownRoots: see `LoadedSettings.ownRoots`; nil means `download.roots`.
    public static func load(
        _ settings: Settings, ownUID: UInt32, ownRoots: [String]? = nil, accounts: AccountDirectory = .system
    ) -> (policy: AccessPolicy, warnings: [String]) {
        let (users, groups, faults) = resolve(settings.access, accounts)
        let policy = AccessPolicy(
            ownUID: ownUID, operatorRoots: settings.service.roots, ownRoots: ownRoots, users: users, groups: groups,
            names: names(settings.access, accounts))
        return (policy, faults.map(\.description))
    }

    /// The faults of the entries, which `xferd --check-config` refuses.
    static func entryFaults(_ settings: Settings, accounts: AccountDirectory = .system) -> [EntryFault] {
        resolve(settings.access, accounts).faults
    }

    /// The names of users that are no numbers, by uid.
    private static func names(_ access: Settings.Access, _ accounts: AccountDirectory) -> [UInt32: String] {
        let named = access.users.keys.sorted().compactMap { name in accounts.uid(name).map { ($0, name) } }
        return Dictionary(named) { first, _ in first }
    }

    private static func resolve(
        _ access: Settings.Access, _ accounts: AccountDirectory
    ) -> (users: [UInt32: Settings.Grant], groups: [UInt32: Settings.Grant], faults: [EntryFault]) {
        var faults: [EntryFault] = []
        func entries(
            _ grants: [String: Settings.Grant], _ kind: String, _ number: (String) -> UInt32?
        ) -> [UInt32: Settings.Grant] {
            var resolved: [UInt32: Settings.Grant] = [:]
            func report(_ name: String, _ reason: String, _ effect: String) {
                faults.append(EntryFault(key: "access.\(kind)s", name: name, reason: reason, effect: effect))
            }
            for (name, grant) in grants.sorted(by: { $0.key < $1.key }) {
                guard let id = number(name) ?? UInt32(name, radix: 10) else {
                    report(name, "there is no such \(kind)", "the entry is left out")
                    continue
                }
                if kind == "user", id == overflowUID {
                    report(name, "\(Refusal.overflowUser)", "the entry has no effect")
                }
                if resolved.updateValue(grant, forKey: id) != nil {
                    report(name, "\(kind) \(id) occurs twice", "this entry applies")
                }
            }
            return resolved
        }
        let users = entries(access.users, "user", accounts.uid)
        let groups = entries(access.groups, "group", accounts.gid)
        return (users, groups, faults)
    }
}
