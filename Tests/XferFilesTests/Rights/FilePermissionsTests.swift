import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct FilePermissionsTests {
    private typealias Access = FilePermissions.Access

    private static let wishes: [Access] = [.read, .write, .search, [.write, .search], [.read, .write, .search]]
    /// Owner, in the group, in another group as well, neither, and two accounts with unknown groups.
    private static let users = [
        FileUser(uid: 4711, gid: 9, groups: []), FileUser(uid: 4712, gid: 4800, groups: []),
        FileUser(uid: 4712, gid: 9, groups: [7, 4800]), FileUser(uid: 4712, gid: 9, groups: [7]),
        FileUser(unknownAccount: 4711), FileUser(unknownAccount: 4712),
    ]

    @Test func everyModeIsDecidedForEveryClassOfUsers() {
        for mode in UInt16(0)...0o777 {
            let file = FilePermissions(owner: 4711, group: 4800, mode: mode, list: .none)
            for wish in Self.wishes {
                func bits(_ shift: UInt16) -> Bool { (mode >> shift) & wish.rawValue == wish.rawValue }
                let expected = [bits(6), bits(3), bits(3), bits(0), bits(6), bits(3) && bits(0)]
                for (user, isPermitted) in zip(Self.users, expected) {
                    #expect(
                        file.decision(about: wish, for: user) == (isPermitted ? .permitted : .denied),
                        "\(String(mode, radix: 8)) \(wish) \(user)")
                }
            }
        }
    }

    /// All lists of a named user, a named group, the owning group, a mask and the others, each with every set of bits.
    @Test func everyAccessListIsDecidedForEveryClassOfUsers() {
        let named = FileUser(uid: 4713, gid: 4800, groups: [])
        let inBoth = FileUser(uid: 4714, gid: 4800, groups: [4801])
        let inNamed = FileUser(uid: 4714, gid: 9, groups: [4801])
        let stranger = FileUser(uid: 4714, gid: 9, groups: [])
        let wish = Access.write
        let sets: [UInt16] = [0, 2]
        for bits in 0..<(1 << 6) {
            func set(_ place: Int) -> UInt16 { sets[(bits >> place) & 1] }
            let list = AccessList(entries: [
                .init(tag: .owner, permissions: set(0)), .init(tag: .user(4713), permissions: set(1)),
                .init(tag: .owningGroup, permissions: set(2)), .init(tag: .group(4801), permissions: set(3)),
                .init(tag: .mask, permissions: set(4)), .init(tag: .other, permissions: set(5)),
            ])
            let file = FilePermissions(owner: 4711, group: 4800, mode: 0, list: .list(list))
            let has = (0..<6).map { set($0) != 0 }
            let cases: [(FileUser, Bool)] = [
                (FileUser(uid: 4711, gid: 4800, groups: []), has[0]), (named, has[1] && has[4]),
                (FileUser(unknownAccount: 4713), has[1] && has[4]),
                (FileUser(uid: 4714, gid: 4800, groups: []), has[2] && has[4]), (inNamed, has[3] && has[4]),
                (inBoth, (has[2] || has[3]) && has[4]), (stranger, has[5]),
                (FileUser(unknownAccount: 4714), has[2] && has[3] && has[4] && has[5]),
            ]
            for (user, isPermitted) in cases {
                #expect(
                    file.decision(about: wish, for: user) == (isPermitted ? .permitted : .denied), "\(has) \(user)")
            }
        }
    }

    @Test func rootIsPermittedWhateverModeAndListSay() {
        let closed = AccessList(entries: [.init(tag: .owner, permissions: 0), .init(tag: .other, permissions: 0)])
        for list in [FilePermissions.List.none, .list(closed)] {
            let file = FilePermissions(owner: 4711, group: 4800, mode: 0, list: list)
            for wish in Self.wishes {
                for root in [FileUser(uid: 0, gid: 0, groups: []), FileUser(unknownAccount: 0)] {
                    #expect(file.decision(about: wish, for: root) == .permitted)
                }
            }
        }
        // Where the list is unknown, as over NFS, the server decides: it may map root to nobody (exports(5), root_squash).
        let remote = FilePermissions(owner: 4711, group: 4800, mode: 0o777, list: .unknown)
        #expect(remote.decision(about: .read, for: FileUser(uid: 0, gid: 0, groups: [])) == .undecided)
    }

    @Test func anUnknownAccessListLeavesTheDecisionOpen() {
        let file = FilePermissions(owner: 4711, group: 4800, mode: 0o777, list: .unknown)
        for user in Self.users { #expect(file.decision(about: .read, for: user) == .undecided) }
    }

    @Test(arguments: [
        [], [2], [2, 0, 0, 0, 1], [1, 0, 0, 0], [2, 0, 0, 0, 3, 0, 7, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0],
    ])
    func bytesThatAreNoAccessListAreRejected(bytes: [UInt8]) { #expect(AccessList(bytes) == nil) }

    /// Every mode, asked of the kernel by a thread that has the user's rights.
    @Test(.enabled(if: UserThread.isPossible, "needs root")) func theKernelAgreesOnEveryMode() throws {
        let base = try TestDirectory()
        chmod(base.path, 0o755)
        let path = try base.makeDirectory("d")
        #expect(chown(path, 4711, 4800) == 0)
        let user = Self.users
        for mode in UInt16(0)...0o777 {
            #expect(chmod(path, mode_t(mode)) == 0)
            guard case .value(let handle) = openDescriptor(path, flags: O_RDONLY | O_DIRECTORY) else {
                Issue.record("cannot open \(path)")
                return
            }
            let permissions = FilePermissions(of: handle, try status(of: handle.raw, path: path))
            for user in user where user.groups != nil && mode % 8 == (mode >> 3) % 8 || mode % 17 == 0 {
                guard user.groups != nil else { continue }
                for wish in Self.wishes {
                    let isAllowed = try UserThread.run(as: user, path: path) { () throws(FileError) in
                        faccessat(handle.raw, ".", Int32(wish.rawValue), AT_EACCESS) == 0
                    }
                    // Without search permission "." itself is out of reach.
                    let asked: Access = wish.union(.search)
                    #expect(
                        isAllowed == (permissions.decision(about: asked, for: user) == .permitted),
                        "\(String(mode, radix: 8)) \(wish) \(user)")
                }
            }
        }
    }

    /// Lists that setfacl(1) makes, asked of the kernel.
    @Test(
        .enabled(if: UserThread.isPossible && Command.find("setfacl") != nil, "needs root and setfacl"),
        arguments: [
            "u:4712:rwx", "u:4712:---", "g:4801:rwx", "g:4801:---", "u:4712:rwx,m::r-x", "g:4801:rwx,o::---",
            "o::---,g:4801:-wx",
        ])
    func theKernelAgreesOnAccessLists(list: String) async throws {
        let base = try TestDirectory()
        chmod(base.path, 0o755)
        let path = try base.makeDirectory("d")
        #expect(chown(path, 4711, 4800) == 0 && chmod(path, 0o755) == 0)
        let set = try await Command.run(try #require(Command.find("setfacl")), ["-m", list, path])
        guard set.isSuccess else { return }
        guard case .value(let handle) = openDescriptor(path, flags: Int32(O_RDONLY) | O_DIRECTORY) else { return }
        let permissions = FilePermissions(of: handle, try status(of: handle.raw, path: path))
        if case .list = permissions.list {} else { Issue.record("no list found: \(permissions)") }
        let users = [
            FileUser(uid: 4711, gid: 9, groups: []), FileUser(uid: 4712, gid: 9, groups: []),
            FileUser(uid: 4713, gid: 4801, groups: []), FileUser(uid: 4713, gid: 4800, groups: [4801]),
            FileUser(uid: 4713, gid: 9, groups: []),
        ]
        for user in users {
            for wish in [Access.search, [.write, .search], [.read, .search]] {
                let isAllowed = try UserThread.run(as: user, path: path) { () throws(FileError) in
                    faccessat(handle.raw, ".", Int32(wish.rawValue), AT_EACCESS) == 0
                }
                #expect(
                    isAllowed == (permissions.decision(about: wish, for: user) == .permitted), "\(list) \(wish) \(user)"
                )
            }
        }
    }

    /// A thread that gives its rights up does not change those of other threads.
    @Test(.enabled(if: UserThread.isPossible, "needs root")) func aUsersRightsApplyToTheirThreadOnly() throws {
        let base = try TestDirectory()
        chmod(base.path, 0o700)
        let path = base.path
        let user = FileUser(uid: 4711, gid: 4711, groups: [])
        let found = try UserThread.run(as: user, path: path) { () throws(FileError) in
            (FileIdentity(ofPath: path + "/none") == nil, open(path, O_RDONLY | O_DIRECTORY) < 0, UserThread.isPossible)
        }
        #expect(found.0 && found.1 && !found.2)
        #expect(UserThread.isPossible && FileIdentity(ofPath: path) != nil)
        #expect(access(path, R_OK) == 0)
    }
}
