import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Downloads to file systems that lie on others or come from other systems, and number files in ways of their own.
@Suite(.serialized, .enabled(if: Machine.canMount, "file systems cannot be mounted here"))
struct StackedFileSystemTests {
    /// A file system for the time of a test.
    private struct Mounts {
        let directory: TemporaryDirectory
        private(set) var paths: [String] = []

        init() throws { directory = try TemporaryDirectory("xfer-stacked") }

        /// Runs a command that mounts something at a new directory of this name; returns its path.
        mutating func mount(_ name: String, _ command: (String) -> [String]) async throws -> String {
            let path = try directory.makeDirectory(name)
            let arguments = command(path)
            guard let program = Command.find(arguments[0]) else { throw TimedOut("\(arguments[0]) is not installed") }
            let result = try await Command.run(program, Array(arguments.dropFirst()))
            guard result.isSuccess else { throw TimedOut("\(arguments): \(result)") }
            paths.append(path)
            return path
        }

        func unmount() { for path in paths.reversed() { umount2(path, Int32(MNT_DETACH)) } }
    }

    /// Layers on two file systems: a file's device is not that of its directory.
    @Test func filesAreDownloadedToAUnionOfTwoFileSystems() async throws {
        var mounts = try Mounts()
        defer { mounts.unmount() }
        let lower = try await mounts.mount("lower") { ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", $0] }
        let upper = try await mounts.mount("upper") { ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", $0] }
        for name in ["layer", "work"] { mkdir("\(upper)/\(name)", 0o755) }
        let union = try await mounts.mount("union") { path in
            [
                "mount", "-t", "overlay", "-o", "lowerdir=\(lower),upperdir=\(upper)/layer,workdir=\(upper)/work",
                "overlay", path,
            ]
        }
        try await expectDownloads(to: union)
    }

    /// A file gets another inode number with another name. Without links, nothing renames it without replacing.
    @Test(
        .enabled(if: Command.find("sshfs") != nil && access(sftp, X_OK) == 0, "needs sshfs and sftp-server"),
        arguments: [false, true])
    func filesAreDownloadedToADirectoryOfSSHFS(hasLinks: Bool) async throws {
        var mounts = try Mounts()
        defer { mounts.unmount() }
        let remote = try mounts.directory.makeDirectory("remote")
        let script = mounts.directory.file("ssh")
        try FileTree.write("#!/bin/sh\nexec \(Self.sftp)\n", to: script, mode: 0o755)
        let path = try await mounts.mount("sshfs") { path in
            let options = "ssh_command=\(script)" + (hasLinks ? "" : ",disable_hardlink")
            return ["sshfs", "-o", options, "localhost:\(remote)", path]
        }
        try await expectDownloads(to: path)
    }

    @Test(.enabled(if: Command.find("mergerfs") != nil, "needs mergerfs"))
    func filesAreDownloadedToADirectoryOfMergerFS() async throws {
        var mounts = try Mounts()
        defer { mounts.unmount() }
        let branches = try ["one", "two"].map { try mounts.directory.makeDirectory($0) }.joined(separator: ":")
        let path = try await mounts.mount("mergerfs") { ["mergerfs", branches, $0] }
        try await expectDownloads(to: path)
    }

    /// Names and lengths are encrypted, and names may be shorter.
    @Test(.enabled(if: Command.find("encfs") != nil, "needs encfs"))
    func filesAreDownloadedToADirectoryOfEncFS() async throws {
        var mounts = try Mounts()
        defer { mounts.unmount() }
        let encrypted = try mounts.directory.makeDirectory("encrypted")
        let path = try await mounts.mount("encfs") { path in
            ["encfs", "--standard", "--extpass=echo secret", encrypted, path]
        }
        try await expectDownloads(to: path)
    }

    /// A file system in a file.
    struct Disk: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let megabytes: Int
        /// The command that makes it, without the file.
        let make: [String]
        /// The command that mounts it, without the file and the directory.
        let mount: [String]

        static let all = [
            Disk(of: "btrfs", megabytes: 160, make: ["mkfs.btrfs", "-q"]),
            Disk(of: "xfs", megabytes: 320, make: ["mkfs.xfs", "-q"]),
            Disk(of: "vfat", megabytes: 64, make: ["mkfs.vfat"]),
            Disk(testDescription: "exfat-fuse", megabytes: 64, make: ["mkfs.exfat"], mount: ["mount.exfat-fuse"]),
            Disk(testDescription: "ntfs-3g", megabytes: 64, make: ["mkfs.ntfs", "-FQq"], mount: ["ntfs-3g"]),
        ]

        /// Those whose programs are installed, and which the kernel knows.
        static let possible: [Disk] = {
            let missing = all.filter { !$0.isPossible }.map(\.testDescription)
            if !missing.isEmpty { print("these cannot be mounted here: \(missing.joined(separator: ", "))") }
            return all.filter(\.isPossible)
        }()

        private var isPossible: Bool {
            let hasPrograms = [make, mount].allSatisfy { $0.first.flatMap { Command.find($0) } != nil }
            guard mount.first == "mount" else { return hasPrograms && access("/dev/fuse", R_OK | W_OK) == 0 }
            let known = (try? FileTree.text("/proc/filesystems")) ?? ""
            return hasPrograms && known.contains("\t\(testDescription)\n")
        }
    }

    @Test(.enabled(if: !Disk.possible.isEmpty, "needs programs that make file systems"), arguments: Disk.possible)
    func filesAreDownloadedToADisk(disk: Disk) async throws {
        var mounts = try Mounts()
        defer { mounts.unmount() }
        let image = mounts.directory.file("image")
        for command in [["truncate", "-s", "\(disk.megabytes)M"], disk.make] {
            let program = try #require(Command.find(command[0]))
            let result = try await Command.run(program, Array(command.dropFirst()) + [image])
            try #require(result.isSuccess, "\(command): \(result)")
        }
        let path = try await mounts.mount("disk") { disk.mount + [image, $0] }
        try await expectDownloads(to: path)
    }

    private static let sftp = "/usr/lib/openssh/sftp-server"

    /// Small and large files, with and without a digest; a taken name; a file that replaces another.
    private func expectDownloads(to directory: String) async throws {
        let server = try await FaultServer()
        let sources = [100, 300_000, 1_500_000, 0].enumerated().map { index, length in
            SourceVersion.tagged(UInt64(index) + 1, length: length)
        }
        for source in sources { server.serve("/\(source.seed)", source) }
        var options = DaemonFixture.Options()
        options.downloads = directory
        try await withDaemon(options) { daemon in
            var ids: [Int64] = []
            for source in sources {
                var fields: JSONObject = ["output": .string("\(source.seed)")]
                if source.seed.isMultiple(of: 2) { fields["checksum"] = .string(source.checksum().description) }
                let id = try await daemon.add(server.url("/\(source.seed)"), fields)
                try expectFile(try await daemon.complete(id), is: source)
                ids.append(id)
            }
            #expect(server.requests.count == sources.count)
            let url = server.url("/\(sources[0].seed)")
            let second = try await daemon.complete(try await daemon.add(url, ["output": "1"]))
            #expect(second.finalPath == "\(directory)/1 (1)")
            let replacing = try await daemon.add(
                server.url("/\(sources[1].seed)"), ["output": "1", "on_conflict": "overwrite"])
            try expectFile(try await daemon.complete(replacing), is: sources[1])
            try await daemon.expectDownloads(["1", "1 (1)", "2", "3", "4"])
        }
    }
}

extension StackedFileSystemTests.Disk {
    /// A file system of the kernel's, over a loop device.
    private init(of type: String, megabytes: Int, make: [String]) {
        self.init(
            testDescription: type, megabytes: megabytes, make: make, mount: ["mount", "-o", "loop", "-t", type])
    }
}
