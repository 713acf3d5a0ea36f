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
    @Test func newTasksForADiskThatHangsWaitForItAndOthersRun() async throws {
        let (disk, home) = (try await HangingDisk(), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 100_000)
        server.serve("/f", source)
        try await withDaemon(try .besides(disk.path, home)) { daemon in
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
            for id in hanging { try await daemon.expectWaiting(id, for: disk.path) }
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
        try await withDaemon(try .besides(disk.path, home)) { daemon in
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
            for id in ids { try await daemon.expectWaiting(id, for: disk.path) }
            try await daemon.stop()
            disk.answer()
            try await daemon.start()
            for id in ids { try expectFile(try await daemon.complete(id), is: source) }
        }
    }
}

extension DaemonFixture.Options {
    /// Downloads to this disk, or by default to a directory of `home`.
    static func besides(_ disk: String, _ home: TemporaryDirectory) throws -> DaemonFixture.Options {
        var options = DaemonFixture.Options()
        let downloads = try home.makeDirectory("downloads")
        options.downloads = downloads
        options.settings = ["download": ["roots": "[\"\(downloads)\", \"\(disk)\"]"]]
        return options
    }
}

extension DaemonFixture {
    func expectWaiting(_ id: Int64, for disk: String) async throws {
        try await eventually("task \(id) waits for the disk") {
            let view = try await view(id)
            return view.waitReason == "destination_unavailable"
                && view.errorMessage.contains("\(disk) does not answer")
        }
    }
}
