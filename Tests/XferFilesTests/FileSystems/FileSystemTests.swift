import CLinux
import Glibc
import Testing
import XferModel

@testable import XferFiles

/// What is known of mounted file systems, and what is found out by attempts.
@Suite struct FileSystemTests {
    @Test(.enabled(if: canMountImages, "this process may not mount images"))
    func theTraitsOfADiskAreThoseOfItsFileSystem() throws {
        try withSmallDisk { disk in
            let traits = try disk.handle().traits
            #expect(traits.name == "ext4" && traits.isLocal && traits.journalsLinks && traits.keepsInodeNumbers)
            #expect(traits.names == .any && traits.longestName == 255 && traits.lacking.isEmpty)
        }
    }

    /// The device number of the first one is the second one's, too.
    @Test(.enabled(if: canMountImages, "this process may not mount images"))
    func theTraitsAreDeterminedAgainAfterAMountHasChanged() throws {
        let table = FileSystems()
        func journals(_ disk: TestDirectory) throws -> Bool {
            let directory = try disk.handle()
            return table.traits(of: directory.descriptor, device: directory.identity.device).journalsLinks
        }
        for _ in 0..<3 {
            try withReusingDisk("ext4") { disk in
                let found = try (0..<2).map { _ in try journals(disk) }
                #expect(found == [true, true])
            }
            try withReusingDisk("ext2") { disk in
                let found = try (0..<2).map { _ in try journals(disk) }
                #expect(found == [false, false])
            }
        }
    }

    /// btrfs and ZFS get another number with each mount, like tmpfs. A device of its own tells a disk from others.
    @Test(.enabled(if: canMountImages, "this process may not mount images"))
    func onlyADirectoryWithoutADeviceOfItsOwnIsKnownUnderAnotherNumber() throws {
        func isRemounted(_ disk: TestDirectory, _ change: (FileIdentity) -> FileIdentity) throws -> Bool {
            let directory = try disk.handle()
            return directory.isRemounted(change(directory.identity))
        }
        // The lowest bits are the minor number's (makedev(3)).
        let another = { (found: FileIdentity) in FileIdentity(device: found.device ^ 1, inode: found.inode) }
        let onADisk = { (found: FileIdentity) in FileIdentity(device: 8 << 8 | 1, inode: found.inode) }
        let other = { (found: FileIdentity) in FileIdentity(device: found.device ^ 1, inode: found.inode + 1) }
        try withSmallFileSystem(size: "64k") { memory in
            let found = try [another, onADisk, other].map { try isRemounted(memory, $0) }
            #expect(found == [true, false, false])
        }
        try withSmallDisk { disk in
            let found = try isRemounted(disk, another)
            #expect(!found)
        }
    }

    @Test func whatAnAttemptHasShownIsRemembered() throws {
        let base = try TestDirectory()
        let table = FileSystems()
        let directory = try base.handle()
        let device = directory.identity.device
        #expect(table.traits(of: directory.descriptor, device: device).lacking.isEmpty)
        table.record(lacking: .hardLinks, device: device)
        // Another test may have mounted something meanwhile: then it is forgotten.
        let lacking = table.traits(of: directory.descriptor, device: device).lacking
        #expect(lacking == [.hardLinks] || lacking.isEmpty)
    }

    /// `stat` of a file on FAT or SFTP: the time is cut to the step at any moment, and never rounded up.
    @Test(
        arguments: [
            (1, 5, 5, true), (1, 4, 5, false), (1000, 5000, 5123, true), (1000, 6000, 5123, false),
            (1000, 5122, 5123, false), (1000, -6000, -5123, true), (1000, Int64.min, Int64.min, true),
        ] as [(Int64, Int64, Int64, Bool)])
    func aTimeMayBeCutToTheStepOfItsFileSystem(step: Int64, found: Int64, recorded: Int64, isSame: Bool) throws {
        var traits = try TestDirectory().handle().traits
        traits.timeStep = step
        #expect(traits.isSameTime(found, as: recorded) == isSame)
    }

    // MARK: Names

    @Test func aNameThatIsTooLongIsRefusedBeforeTheFirstByte() throws {
        let base = try TestDirectory()
        var traits = try base.handle().traits
        traits.longestName = 143
        let directory = try base.handle(traits)
        let name = String(repeating: "x", count: 144)
        #expect(throws: FileError.nameRefused(path: base.at(name), code: ENAMETOOLONG)) {
            try directory.requireNameable(name)
        }
        try directory.requireNameable(String(repeating: "x", count: 143))
        #expect(directory.fitted(name).utf8.count == 143)
    }

    /// ext4 holds every name, so that the attempts succeed, and leave nothing.
    @Test func anAttemptAtANameLeavesNothing() throws {
        let base = try TestDirectory()
        var traits = try base.handle().traits
        traits.names = .unknown
        let directory = try base.handle(traits)
        for name in ["a:b", String(repeating: "ä", count: 127)] {
            try directory.requireNameable(name)
            #expect(directory.fitted(name) == name)
        }
        #expect(try base.names().isEmpty)
    }

    // MARK: Lengths

    @Test(.enabled(if: canMountImages, "this process may not mount images"))
    func aFileBeyondTheLargestOfItsFileSystemIsRefused() throws {
        try withReusingDisk("ext2 -b 1024") { disk in
            let part = try PartialFile.create(in: try disk.handle(), named: "part")
            // Triple indirect blocks of 1 KiB end there (ext4(5)).
            try part.requirePossible(length: 16 << 30)
            #expect(throws: FileError.fileTooLarge(path: disk.at("part"), length: 18 << 30, limit: nil)) {
                try part.requirePossible(length: 18 << 30)
            }
            #expect(try part.length() == 0)
        }
    }

    // MARK: Modes

    /// An access control list by which `d:u::rwx,d:g::r-x,d:g:4:rwx,d:m::rwx,d:o::---` is inherited (acl(5)).
    @Test func aDefaultAccessListDecidesTheModeOfNewFiles() throws {
        let list: [UInt8] =
            [2, 0, 0, 0] + entry(0x01, 7) + entry(0x04, 5) + entry(0x08, 7, 4) + entry(0x10, 7) + entry(0x20, 0)
        #expect(DefaultAccessList(list)?.mode == 0o770)
        #expect(DefaultAccessList([2, 0, 0, 0] + entry(0x01, 7) + entry(0x04, 5) + entry(0x20, 1))?.mode == 0o751)
        for broken in [[], [3, 0, 0, 0], Array(list.dropLast()), [2, 0, 0, 0]] {
            #expect(DefaultAccessList(broken) == nil)
        }

        let base = try TestDirectory()
        typealias SetAttribute =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
        let set = unsafeBitCast(dlsym(nil, "setxattr"), to: SetAttribute.self)
        guard set(base.path, "system.posix_acl_default", list, list.count, 0) == 0 else { return }
        // What open(2) gives here is what a published file has.
        let made = open(base.at("made"), O_CREAT | O_WRONLY, 0o666)
        #expect(close(made) == 0)
        let directory = try base.handle()
        let (part, _) = try makePart("part", "x", in: directory, as: "file")
        try Publisher(directory: directory).prepare(
            part, Publisher.Attributes(length: 1, mode: 0o644, yieldsToDirectory: true))
        let expected = try #require(try directory.status(of: "made")).mode
        #expect(expected == 0o660)
        #expect(try directory.status(of: "part")?.mode == expected)
        let unnamed = try UnnamedFile.create(
            in: directory, [1], mode: 0o644, yieldsToDirectory: true, modifiedAt: nil)
        if let unnamed {
            #expect(try unnamed.link(as: "unnamed") == .published)
            #expect(try directory.status(of: "unnamed")?.mode == expected)
        }
        try Publisher(directory: directory).prepare(part, Publisher.Attributes(length: 1, mode: 0o604))
        #expect(try directory.status(of: "part")?.mode == 0o604)
    }

    private func entry(_ tag: UInt8, _ permissions: UInt8, _ id: UInt8? = nil) -> [UInt8] {
        [tag, 0, permissions, 0] + (id.map { [$0, 0, 0, 0] } ?? [255, 255, 255, 255])
    }

    // MARK: The table of mounts

    @Test func theMountOfAPathIsTheInnermostAndLatestOne() {
        let text = """
            22 1 0:21 / / rw shared:1 - ext4 /dev/root rw
            30 22 0:40 / /mnt/na\\040s rw - fuse.sshfs host:/x rw
            31 22 8:1 /sub /mnt rw,noatime master:1 shared:2 - xfs /dev/sda1 rw
            32 22 8:17 / /mnt rw - btrfs /dev/sdb1 rw
            broken line
            33 22 8:33 / /mnt2 rw
            """
        let table = MountTable(text: Array(text.utf8))
        #expect(table.mounts.map(\.point) == ["/", "/mnt/na s", "/mnt", "/mnt"])
        func type(_ path: String) -> String? { table.mount(of: path)?.type }
        #expect(type("/mnt/na s/x") == "fuse.sshfs" && type("/mnt/na") == "btrfs" && type("/mnt2") == "ext4")
        #expect(type("/") == "ext4" && type("/mnt") == "btrfs")
        #expect(table.device(of: "/mnt2").map(table.hasDevice) == true && !MountTable(text: []).hasDevice(1))
        #expect(!MountTable().mounts.isEmpty)
    }

    /// As `/run/netns` of `ip netns`, which shows a part of the root's file system.
    @Test func theMountOfADeviceIsTheOneWithTheShortestPath() {
        let lines = ["8:1 / /", "8:1 /run/netns /run/netns", "8:2 / /mnt", "8:2 /a /mnt"]
        let text = lines.map { "36 35 \($0) rw - ext4 /dev/x rw\n" }.joined()
        let table = MountTable(text: Array(text.utf8))
        func point(_ minor: UInt64) -> String? { table.mount(ofDevice: xfer_device(8, minor))?.point }
        #expect(point(1) == "/" && point(2) == "/mnt" && point(3) == nil)
    }
}
