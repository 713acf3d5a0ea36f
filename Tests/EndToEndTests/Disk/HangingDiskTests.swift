import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A file system that does not answer for a while: sshfs whose process is stopped.
private final class HangingDisk: Sendable {
    let path: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    static let sftp = "/usr/lib/openssh/sftp-server"
    static let isPossible = Machine.canMount && Command.find("sshfs") != nil && access(sftp, X_OK) == 0

    init() async throws {
        directory = try TemporaryDirectory("xfer-hanging")
        path = try directory.makeDirectory("disk")
        let remote = try directory.makeDirectory("remote")
        let script = directory.file("ssh")
        try FileTree.write("#!/bin/sh\nexec \(Self.sftp)\n", to: script, mode: 0o755)
        guard let program = Command.find("sshfs") else { throw TimedOut("sshfs is not installed") }
        process = try ChildProcess(program, ["-f", "-o", "ssh_command=\(script)", "localhost:\(remote)", path])
        let path = path
        let outside = try Self.device(directory.path)
        try await eventually("sshfs is mounted") { try Self.device(path) != outside }
    }

    private static func device(_ path: String) throws -> UInt64 {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw PosixError("stat \(path)") }
        return UInt64(facts.st_dev)
    }

    func hang() { process.signal(SIGSTOP) }
    func answer() { process.signal(SIGCONT) }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        process.signal(SIGKILL)
    }
}

/// A disk that hangs holds up its own tasks, which say so, and nothing else.
@Suite(.serialized, .enabled(if: HangingDisk.isPossible, "needs sshfs, sftp-server and to mount file systems"))
struct HangingDiskTests {
    private func options(_ disk: String, _ home: TemporaryDirectory) throws -> DaemonFixture.Options {
        var options = DaemonFixture.Options()
        let downloads = try home.makeDirectory("downloads")
        options.downloads = downloads
        options.settings = ["download": ["roots": "[\"\(downloads)\", \"\(disk)\"]"]]
        return options
    }

    private func expectWaiting(_ id: Int64, for disk: String, in daemon: DaemonFixture) async throws {
        try await eventually("task \(id) waits for the disk") {
            let view = try await daemon.view(id)
            return view.waitReason == "destination_unavailable"
                && view.errorMessage.contains("\(disk) does not answer")
        }
    }

    @Test func newTasksForADiskThatHangsWaitForItAndOthersRun() async throws {
        let (disk, home) = (try await HangingDisk(), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 100_000)
        server.serve("/f", source)
        try await withDaemon(try options(disk.path, home)) { daemon in
            disk.hang()
            defer { disk.answer() }
            let hanging = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        try await daemon.add(
                            server.url("/f"),
                            ["dir": .string(disk.path), "output": .string("\(number)"), "coalesce": false])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let other = try await daemon.add(server.url("/f"), ["coalesce": false])
            try expectFile(try await daemon.complete(other), is: source)
            for id in hanging { try await expectWaiting(id, for: disk.path, in: daemon) }
            _ = try await daemon.call("task.cancel", ["ids": [.integer(hanging[0])]])
            #expect(try await daemon.view(hanging[0]).state == "cancelled")
            disk.answer()
            for id in hanging.dropFirst() { try expectFile(try await daemon.complete(id), is: source) }
        }
    }

    /// Their partial files lie on it.
    @Test func aStartWithUnfinishedTasksOnADiskThatHangsServesTheOthersAndEnds() async throws {
        let (disk, home) = (try await HangingDisk(), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.tagged(2, length: 600_000)
        for number in 0..<3 {
            server.serve("/\(number)", source, faults: [[.stall(at: 400_000, until: gate)]])
        }
        server.serve("/other", source)
        try await withDaemon(try options(disk.path, home)) { daemon in
            var ids: [Int64] = []
            for number in 0..<3 {
                let id = try await daemon.add(server.url("/\(number)"), ["dir": .string(disk.path)])
                try await daemon.waitForBytes(400_000, of: id)
                ids.append(id)
            }
            await daemon.kill9()
            disk.hang()
            defer { disk.answer() }
            gate.open()
            try await daemon.start()
            let other = try await daemon.add(server.url("/other"))
            try expectFile(try await daemon.complete(other), is: source)
            for id in ids { try await expectWaiting(id, for: disk.path, in: daemon) }
            try await daemon.stop()
            disk.answer()
            try await daemon.start()
            for id in ids { try expectFile(try await daemon.complete(id), is: source) }
        }
    }

    private func freeze(_ option: String, _ disk: LoopFileSystem) async throws {
        let result = try await Command.run(try #require(Command.find("fsfreeze")), [option, disk.path])
        guard result.isSuccess else { throw TimedOut("fsfreeze \(option): \(result)") }
    }

    /// A snapshot among many small downloads: a round is caught between its intents and its end, as a rule.
    @Test(.enabled(if: Command.find("fsfreeze") != nil && Command.find("losetup") != nil, "needs fsfreeze and losetup"))
    func verbsReachSmallDownloadsThatAFrozenDiskHasCaught() async throws {
        let (disk, home) = (try await LoopFileSystem(megabytes: 64), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(4, length: 2000)
        server.serve("/f", source)
        try await withDaemon(try options(disk.path, home)) { daemon in
            func tasks(_ names: [String]) -> JSONValue {
                .array(
                    names.map { name in
                        [
                            "url": .string(server.url("/f")), "dir": .string(disk.path), "output": .string(name),
                            "coalesce": false,
                        ]
                    })
            }
            func add(_ names: [String]) async throws -> [Int64] {
                let answer = try await daemon.call("task.add", ["tasks": tasks(names)])
                return try #require(answer["ids"]?.arrayValue).compactMap(\.integerValue)
            }
            // From now on the directory is known to take files.
            for id in try await add(["first"]) { try await daemon.complete(id) }
            let names = (0..<600).map { "\($0)" }
            let ids = try await add(names)
            try await eventually("some have their names") { try FileTree.names(in: disk.path).count > 60 }
            try await freeze("-f", disk)
            do {
                _ = try await daemon.call("task.pause", ["ids": .array(ids.map { .integer($0) })])
            } catch {
                try await freeze("-u", disk)
                throw error
            }
            try await freeze("-u", disk)
            _ = try await daemon.call("task.resume", ["ids": .array(ids.map { .integer($0) })])
            for id in ids { try expectFile(try await daemon.complete(id), is: source) }
            let found = Set(try FileTree.names(in: disk.path).filter { !$0.hasPrefix(".") })
            #expect(found == Set(names + ["first", "lost+found"]), "each file once")
        }
        try await disk.detach()
    }

    /// A snapshot freezes the disk for a while: reading goes on, and writing hangs. A small file is written by a round of
    /// its directory.
    @Test(.enabled(if: Command.find("fsfreeze") != nil && Command.find("losetup") != nil, "needs fsfreeze and losetup"))
    func aSmallDownloadToAFrozenDiskHoldsUpNoOther() async throws {
        let (disk, home) = (try await LoopFileSystem(megabytes: 32), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(3, length: 5000)
        server.serve("/f", source)
        try await withDaemon(try options(disk.path, home)) { daemon in
            func add(_ name: String, _ directory: String) async throws -> Int64 {
                try await daemon.add(
                    server.url("/f"), ["dir": .string(directory), "output": .string(name), "coalesce": false])
            }
            // From now on the directories are known to take files.
            for directory in [disk.path, daemon.downloads] {
                try expectFile(try await daemon.complete(try await add("first", directory)), is: source)
            }
            try await freeze("-f", disk)
            let frozen = try await add("frozen", disk.path)
            do {
                try expectFile(try await daemon.complete(try await add("other", daemon.downloads)), is: source)
                try await expectWaiting(frozen, for: disk.path, in: daemon)
            } catch {
                try await freeze("-u", disk)
                throw error
            }
            try await freeze("-u", disk)
            try expectFile(try await daemon.complete(frozen), is: source)
            #expect(
                try FileTree.entries(below: disk.path).filter { $0.hasPrefix("f") }.sorted() == ["first", "frozen"])
        }
        try await disk.detach()
    }
}
